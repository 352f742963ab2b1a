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
        <main><xsl:copy-of select="$content"/></main>
        <footer>Written by Faultline. This file is complete: it asks no network for anything.</footer>
        <script><xsl:value-of select="/*/page-script" disable-output-escaping="yes"/></script>
      </body>
    </html>
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
          <xsl:when test="$of = 'unknown'">? </xsl:when>
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
