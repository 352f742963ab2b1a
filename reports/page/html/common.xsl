<?xml version="1.0" encoding="UTF-8"?>
<!-- What all pages share: the frame of the file, verdicts as badges, texts to copy, references to
     events. A page gives its content to the template "page". Everything must read without the style
     and without the script: those only add. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">

  <!-- The whole file. title: of the window; content: what stands in <main>. -->
  <xsl:template name="page">
    <xsl:param name="title"/>
    <xsl:param name="content"/>
    <html lang="en">
      <head>
        <meta http-equiv="Content-Security-Policy"
              content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta name="color-scheme" content="light dark"/>
        <title><xsl:value-of select="$title"/></title>
        <link rel="icon" href="data:,"/>
        <style><xsl:value-of select="/*/page-style" disable-output-escaping="yes"/></style>
      </head>
      <body>
        <main>
          <xsl:copy-of select="$content"/>
          <xsl:call-template name="words"/>
        </main>
        <footer>Written by Faultline. This file is complete: it asks no network for anything.</footer>
        <script><xsl:value-of select="/*/page-script" disable-output-escaping="yes"/></script>
      </body>
    </html>
  </xsl:template>

  <!-- ==== words ==== -->

  <xsl:key name="word" match="/*/word" use="@id"/>

  <!-- Those of the glossary, each with its explanation. -->
  <xsl:template name="words">
    <details class="words" id="words">
      <summary><h2 class="inline">Words</h2>: what Faultline means by them</summary>
      <dl>
        <xsl:for-each select="/*/word">
          <xsl:sort select="@title"/>
          <dt id="word-{@id}"><xsl:value-of select="@title"/></dt>
          <dd><xsl:value-of select="."/></dd>
        </xsl:for-each>
      </dl>
    </details>
  </xsl:template>

  <!-- A word that leads to its explanation. id: as in the glossary; text: as it is written here. -->
  <xsl:template name="term">
    <xsl:param name="id"/>
    <xsl:param name="text" select="$id"/>
    <a class="term" href="#word-{$id}" title="{key('word', $id)}"><xsl:value-of select="$text"/></a>
  </xsl:template>

  <!-- In a sentence: where it stands for the first time. -->
  <xsl:template match="term" mode="sentence">
    <xsl:choose>
      <xsl:when test="preceding::term[@id = current()/@id]"><xsl:value-of select="."/></xsl:when>
      <xsl:otherwise>
        <xsl:call-template name="term">
          <xsl:with-param name="id" select="@id"/><xsl:with-param name="text" select="."/>
        </xsl:call-template>
      </xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- A verdict: its colour is not its only sign. -->
  <xsl:template name="verdict">
    <xsl:param name="of"/>
    <strong class="verdict {$of}">
      <span aria-hidden="true">
        <xsl:choose>
          <xsl:when test="$of = 'pass'">&#x2713; </xsl:when>
          <xsl:when test="$of = 'violation'">&#x2717; </xsl:when>
          <xsl:when test="$of = 'vacuous'">&#x2205; </xsl:when>
          <xsl:when test="starts-with($of, 'unknown')">? </xsl:when>
          <xsl:otherwise>! </xsl:otherwise>
        </xsl:choose>
      </span>
      <xsl:value-of select="$of"/>
    </strong>
  </xsl:template>

  <!-- A line to copy; the script adds a button. -->
  <xsl:template name="copy">
    <xsl:param name="text"/>
    <code class="copy"><xsl:value-of select="$text"/></code>
  </xsl:template>

  <!-- "3 messages", "1 message". -->
  <xsl:template name="count">
    <xsl:param name="of"/>
    <xsl:param name="one"/>
    <xsl:param name="many" select="concat($one, 's')"/>
    <xsl:value-of select="$of"/>
    <xsl:text> </xsl:text>
    <xsl:choose>
      <xsl:when test="$of = 1"><xsl:value-of select="$one"/></xsl:when>
      <xsl:otherwise><xsl:value-of select="$many"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

</xsl:stylesheet>
