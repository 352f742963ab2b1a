<?xml version="1.0" encoding="UTF-8"?>
<!-- The page of an output folder: how the newest runs went, what did not pass in groups, every
     scenario, what was covered, and how the sets of runs before went. Pictures carry their colours
     as attributes, and everything that they show stands in words or in a table as well. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:include href="common.xsl"/>
  <xsl:output method="html" encoding="UTF-8" doctype-system="about:legacy-compat" indent="no"/>

  <xsl:template match="/folder">
    <xsl:call-template name="page">
      <xsl:with-param name="title">
        <xsl:text>Faultline: </xsl:text>
        <xsl:value-of select="@name"/>
      </xsl:with-param>
      <xsl:with-param name="content">
        <h1>Runs in <xsl:value-of select="@name"/></h1>
        <xsl:apply-templates select="set"/>
        <xsl:apply-templates select="trend[count(bar) &gt; 1]"/>
      </xsl:with-param>
    </xsl:call-template>
  </xsl:template>

  <!-- ==== the newest set ==== -->

  <xsl:template match="set">
    <p id="summary">
      <xsl:call-template name="worst"/>
      <xsl:text> </xsl:text>
      <xsl:if test="@name != '.'">
        <xsl:text>newest: </xsl:text><a href="{@name}/"><xsl:value-of select="@name"/></a>
        <xsl:text>; </xsl:text>
      </xsl:if>
      <xsl:call-template name="count">
        <xsl:with-param name="of" select="@runs"/><xsl:with-param name="one" select="'run'"/>
      </xsl:call-template>
      <xsl:text>: </xsl:text>
      <xsl:value-of select="@pass"/><xsl:text> passed, </xsl:text>
      <xsl:call-template name="count">
        <xsl:with-param name="of" select="@violation"/>
        <xsl:with-param name="one" select="'violation'"/>
      </xsl:call-template>
      <xsl:text>, </xsl:text>
      <xsl:choose>
        <xsl:when test="@vacuous">
          <xsl:value-of select="concat(@unknown, ' unknown, ', @vacuous, ' ')"/>
          <xsl:call-template name="term"><xsl:with-param name="id">vacuous</xsl:with-param></xsl:call-template>
          <xsl:text>, </xsl:text>
        </xsl:when>
        <xsl:otherwise><xsl:value-of select="@undecided"/><xsl:text> unknown or vacuous, </xsl:text></xsl:otherwise>
      </xsl:choose>
      <xsl:call-template name="count">
        <xsl:with-param name="of" select="@harness-error"/>
        <xsl:with-param name="one" select="'harness error'"/>
      </xsl:call-template>
      <xsl:text>.</xsl:text>
      <xsl:if test="@damaged &gt; 0">
        <xsl:text> </xsl:text>
        <xsl:call-template name="count">
          <xsl:with-param name="of" select="@damaged"/><xsl:with-param name="one" select="'file'"/>
        </xsl:call-template>
        <xsl:text> could not be read.</xsl:text>
      </xsl:if>
    </p>
    <xsl:apply-templates select="campaign"/>
    <xsl:apply-templates select="groups[group]"/>
    <xsl:apply-templates select="history"/>
    <xsl:apply-templates select="coverage[claim]"/>
    <xsl:if test="scenario">
      <h2 id="scenarios">
        <xsl:choose>
          <xsl:when test="campaign">Runs that were kept</xsl:when>
          <xsl:otherwise>Every scenario</xsl:otherwise>
        </xsl:choose>
      </h2>
      <xsl:if test="count(scenario) &lt; @folders">
        <p><xsl:value-of select="concat(count(scenario), ' of ', @folders, ' are shown.')"/></p>
      </xsl:if>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="scenarios">
        <table>
          <thead>
            <tr>
              <th scope="col" class="number">no.</th>
              <th scope="col">verdict</th><th scope="col">scenario</th>
              <th scope="col">protocol</th><th scope="col">program</th>
              <th scope="col" class="number">ranks</th><th scope="col" class="number">seconds</th>
            </tr>
          </thead>
          <tbody><xsl:apply-templates select="scenario"/></tbody>
        </table>
      </div>
    </xsl:if>
  </xsl:template>

  <!-- The worst decides, as the exit status does. -->
  <xsl:template name="worst">
    <xsl:call-template name="verdict">
      <xsl:with-param name="of">
        <xsl:choose>
          <xsl:when test="@violation &gt; 0">violation</xsl:when>
          <xsl:when test="@harness-error &gt; 0">harness-error</xsl:when>
          <xsl:when test="@undecided &gt; 0 and @unknown = 0">vacuous</xsl:when>
          <xsl:when test="@undecided &gt; 0 and @unknown &gt; 0">unknown</xsl:when>
          <xsl:when test="@undecided &gt; 0">unknown or vacuous</xsl:when>
          <xsl:otherwise>pass</xsl:otherwise>
        </xsl:choose>
      </xsl:with-param>
    </xsl:call-template>
  </xsl:template>

  <xsl:template match="scenario">
    <tr>
      <td class="number"><xsl:call-template name="link"/></td>
      <td>
        <xsl:call-template name="verdict">
          <xsl:with-param name="of" select="@verdict"/>
        </xsl:call-template>
      </td>
      <td>
        <xsl:value-of select="@name"/>
        <xsl:if test="@violates != ''">
          <xsl:text> (must violate </xsl:text><xsl:value-of select="@violates"/>
          <xsl:text>)</xsl:text>
        </xsl:if>
        <xsl:if test="@file != ''">
          <br/><small><xsl:value-of select="concat(@file, ':', @line)"/></small>
        </xsl:if>
      </td>
      <td><xsl:value-of select="@protocol"/></td>
      <td><xsl:value-of select="@program"/></td>
      <td class="number"><xsl:value-of select="@ranks"/></td>
      <td class="number"><xsl:value-of select="@seconds"/></td>
    </tr>
  </xsl:template>

  <!-- A run by its number: to its page, else to its folder. -->
  <xsl:template name="link">
    <xsl:choose>
      <xsl:when test="@page">
        <a href="{@page}" title="{@name}"><xsl:value-of select="@number"/></a>
      </xsl:when>
      <xsl:when test="@folder">
        <a href="{@folder}/" title="{@name}"><xsl:value-of select="@number"/></a>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="@number"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- ==== a campaign ==== -->

  <xsl:template match="campaign">
    <p>
      <xsl:text>A campaign, strategy </xsl:text><strong><xsl:value-of select="@strategy"/></strong>
      <xsl:value-of select="concat(', seed ', @seed, ', ', @seconds, ' s, ', @rate, ' runs a second: ')"/>
      <xsl:choose>
        <xsl:when test="@going">it is going on, or was ended without a word.</xsl:when>
        <xsl:otherwise><strong><xsl:value-of select="@why"/></strong>.</xsl:otherwise>
      </xsl:choose>
    </p>
    <xsl:for-each select="canary">
      <p>
        <xsl:text>Canary of </xsl:text><xsl:value-of select="@protocol"/><xsl:text>: </xsl:text>
        <xsl:choose>
          <xsl:when test="@found">
            <xsl:value-of select="concat(@claim, ' was found violated, as it must be.')"/>
          </xsl:when>
          <xsl:when test="@done">
            <strong class="verdict harness-error">
              <xsl:value-of select="concat('the violation of ', @claim, ' was not found: a campaign that finds nothing says nothing.')"/>
            </strong>
          </xsl:when>
          <xsl:otherwise>not run.</xsl:otherwise>
        </xsl:choose>
      </p>
    </xsl:for-each>
    <xsl:if test="subject">
      <h2 id="subjects">What was tested</h2>
      <div class="scroll" tabindex="0" role="region" aria-labelledby="subjects">
        <table>
          <thead>
            <tr>
              <th scope="col" class="number">no.</th><th scope="col">protocol</th>
              <th scope="col">program</th><th scope="col" class="number">ranks</th>
              <th scope="col" class="number">runs</th><th scope="col" class="number">plans</th>
              <th scope="col">bounds</th>
            </tr>
          </thead>
          <tbody><xsl:apply-templates select="subject"/></tbody>
        </table>
      </div>
    </xsl:if>
  </xsl:template>

  <xsl:template match="subject">
    <tr>
      <td class="number"><xsl:value-of select="@number"/></td>
      <td><xsl:value-of select="@protocol"/></td>
      <td><xsl:value-of select="@program"/></td>
      <td class="number"><xsl:value-of select="@ranks"/></td>
      <td class="number"><xsl:value-of select="@runs"/></td>
      <td class="number">
        <xsl:choose>
          <xsl:when test="@plans"><xsl:value-of select="@plans"/></xsl:when>
          <xsl:otherwise>no end</xsl:otherwise>
        </xsl:choose>
      </td>
      <td>
        <xsl:choose>
          <xsl:when test="not(@surveyed)">could not be surveyed</xsl:when>
          <xsl:when test="@complete">complete: </xsl:when>
          <xsl:otherwise>not complete: </xsl:otherwise>
        </xsl:choose>
        <xsl:value-of select="@bounds"/>
      </td>
    </tr>
  </xsl:template>

  <!-- ==== what did not pass ==== -->

  <xsl:template match="groups">
    <h2 id="groups">What did not pass</h2>
    <xsl:if test="@left-out &gt; 0">
      <p><xsl:value-of select="@left-out"/> runs are of yet other groups, which are not shown.</p>
    </xsl:if>
    <ol class="groups"><xsl:apply-templates select="group"/></ol>
  </xsl:template>

  <xsl:template match="group">
    <li>
      <xsl:call-template name="verdict">
        <xsl:with-param name="of" select="@verdict"/>
      </xsl:call-template>
      <xsl:text> </xsl:text>
      <xsl:if test="@name != @verdict">
        <strong class="group-name"><xsl:value-of select="@name"/></strong>
      </xsl:if>
      <xsl:text>, </xsl:text>
      <xsl:call-template name="count">
        <xsl:with-param name="of" select="@count"/><xsl:with-param name="one" select="'run'"/>
      </xsl:call-template>
      <xsl:if test="member">: </xsl:if>
      <xsl:for-each select="member">
        <xsl:if test="position() &gt; 1">, </xsl:if>
        <xsl:call-template name="link"/>
      </xsl:for-each>
      <xsl:if test="member and count(member) &lt; @count">, ...</xsl:if>
      <xsl:if test="@text">
        <p><q><xsl:value-of select="@text"/></q> (<xsl:value-of select="@source"/>)</p>
      </xsl:if>
      <xsl:if test="why"><p><xsl:value-of select="why"/></p></xsl:if>
      <p>
        <xsl:text>first in </xsl:text>
        <q>
          <xsl:choose>
            <xsl:when test="@plan"><xsl:value-of select="@plan"/></xsl:when>
            <xsl:otherwise><xsl:value-of select="member[1]/@name"/></xsl:otherwise>
          </xsl:choose>
        </q>
        <xsl:if test="@subject"><xsl:value-of select="concat(' of subject ', @subject)"/></xsl:if>
        <xsl:if test="replays">
          <xsl:value-of select="concat('; replayed ', replays/@same, ' of ', replays/@asked,
                                       ' times the same')"/>
          <xsl:if test="replays/@same != replays/@asked">
            <xsl:value-of select="concat(' (95 % interval ', replays/@low, ' to ', replays/@high,
                                         ')')"/>
          </xsl:if>
        </xsl:if>
      </p>
    </li>
  </xsl:template>

  <!-- ==== coverage ==== -->

  <xsl:template match="coverage">
    <h2 id="coverage">What was covered</h2>
    <xsl:if test="matrix">
      <p>
        <xsl:choose>
          <xsl:when test="@of-runs">In how many runs a message or a call was seen</xsl:when>
          <xsl:otherwise>How often a message or a call was seen</xsl:otherwise>
        </xsl:choose>
        <xsl:text> in each place against the lines. What is forbidden has no such count: other
        claims speak of it.</xsl:text>
      </p>
      <div class="matrices"><xsl:apply-templates select="matrix"/></div>
    </xsl:if>
    <div class="scroll" tabindex="0" role="region" aria-labelledby="coverage">
      <table>
        <thead>
          <tr>
            <th scope="col">claim</th>
            <th scope="col" class="number">runs</th>
            <th scope="col" class="number">
              <xsl:choose>
                <xsl:when test="@of-runs">arose in</xsl:when>
                <xsl:otherwise>situations</xsl:otherwise>
              </xsl:choose>
            </th>
            <th scope="col" class="number">violations</th>
            <th scope="col">what it says</th>
          </tr>
        </thead>
        <tbody><xsl:apply-templates select="claim[not(@is-cell)]"/></tbody>
      </table>
    </div>
  </xsl:template>

  <xsl:template match="claim">
    <tr>
      <th scope="row"><xsl:value-of select="@id"/></th>
      <td class="number"><xsl:value-of select="@runs"/></td>
      <td class="number">
        <xsl:choose>
          <xsl:when test="@situations = 0"><strong class="verdict vacuous">never arose</strong></xsl:when>
          <xsl:otherwise><xsl:value-of select="@situations"/></xsl:otherwise>
        </xsl:choose>
      </td>
      <td class="number">
        <xsl:choose>
          <xsl:when test="@violations &gt; @expected">
            <strong class="verdict violation"><xsl:value-of select="@violations"/></strong>
          </xsl:when>
          <xsl:otherwise><xsl:value-of select="@violations"/></xsl:otherwise>
        </xsl:choose>
        <xsl:if test="@expected &gt; 0">
          <xsl:value-of select="concat(' (', @expected, ' expected)')"/>
        </xsl:if>
      </td>
      <td>
        <xsl:value-of select="@text"/>
        <xsl:if test="@situations = 0">
          <xsl:text>; needs to see </xsl:text><xsl:value-of select="@needs"/>
        </xsl:if>
        <br/><small><xsl:value-of select="@source"/></small>
      </td>
    </tr>
  </xsl:template>

  <xsl:template match="matrix">
    <figure class="matrix">
      <figcaption>
        <xsl:value-of select="@id"/><xsl:text>: </xsl:text>
        <xsl:value-of select="concat(@seen, ' of ', @possible, ' cells seen')"/>
      </figcaption>
      <svg xmlns="http://www.w3.org/2000/svg" role="img" width="{@width}" height="{@height}"
           viewBox="0 0 {@width} {@height}" font-family="sans-serif" font-size="12">
        <xsl:attribute name="aria-label">
          <xsl:value-of select="concat(@id, ': ')"/>
          <xsl:for-each select="cell">
            <xsl:if test="position() &gt; 1">; </xsl:if>
            <xsl:value-of select="concat(../@rows, ' ', @row, ', ', ../@columns, ' ', @column, ' ')"/>
            <xsl:choose>
              <xsl:when test="@state = 'forbidden'">forbidden</xsl:when>
              <xsl:otherwise><xsl:value-of select="concat(@count, ' times')"/></xsl:otherwise>
            </xsl:choose>
          </xsl:for-each>
        </xsl:attribute>
        <text class="ink" fill="#1b1f24" x="0" y="{row[1]/@y - 24}">
          <xsl:value-of select="concat(@columns, ' &#x2192;')"/>
        </text>
        <text class="ink" fill="#1b1f24" x="0" y="{row[1]/@y - 8}">
          <xsl:value-of select="concat(@rows, ' &#x2193;')"/>
        </text>
        <xsl:apply-templates select="row | column | cell"/>
      </svg>
    </figure>
  </xsl:template>

  <xsl:template match="matrix/row">
    <text xmlns="http://www.w3.org/2000/svg" class="ink" fill="#1b1f24" x="{@x}"
          y="{@y + ../@cell-height div 2 + 4}"><xsl:value-of select="@name"/></text>
  </xsl:template>

  <!-- "before+logging" in two lines. -->
  <xsl:template match="matrix/column">
    <xsl:variable name="middle" select="@x + ../@cell-width div 2"/>
    <text xmlns="http://www.w3.org/2000/svg" class="ink" fill="#1b1f24" text-anchor="middle"
          x="{$middle}" y="{@y - 8}">
      <xsl:choose>
        <xsl:when test="contains(@name, '+')">
          <tspan x="{$middle}" dy="-14">
            <xsl:value-of select="concat(substring-before(@name, '+'), ' +')"/>
          </tspan>
          <tspan x="{$middle}" dy="14"><xsl:value-of select="substring-after(@name, '+')"/></tspan>
        </xsl:when>
        <xsl:otherwise><xsl:value-of select="@name"/></xsl:otherwise>
      </xsl:choose>
    </text>
  </xsl:template>

  <xsl:template match="matrix/cell">
    <xsl:variable name="fill">
      <xsl:choose>
        <xsl:when test="@state = 'seen'">#cdebd3</xsl:when>
        <xsl:when test="@state = 'unseen'">#ffffff</xsl:when>
        <xsl:otherwise>#d5d9de</xsl:otherwise>
      </xsl:choose>
    </xsl:variable>
    <g xmlns="http://www.w3.org/2000/svg">
      <title>
        <xsl:value-of select="concat(../@rows, ' ', @row, ', ', ../@columns, ' ', @column, ': ', @state)"/>
        <xsl:if test="@claim"><xsl:value-of select="concat(' (', @claim, ')')"/></xsl:if>
      </title>
      <rect x="{@x}" y="{@y}" width="{../@cell-width}" height="{../@cell-height}" fill="{$fill}"
            stroke="#545d68"/>
      <text fill="#1b1f24" text-anchor="middle" x="{@x + ../@cell-width div 2}"
            y="{@y + ../@cell-height div 2 + 4}">
        <xsl:choose>
          <xsl:when test="@state = 'seen'">
            <xsl:value-of select="concat('&#x2713; ', @count)"/>
          </xsl:when>
          <xsl:when test="@state = 'unseen'">not seen</xsl:when>
          <xsl:otherwise>forbidden</xsl:otherwise>
        </xsl:choose>
      </text>
    </g>
  </xsl:template>

  <!-- ==== a campaign over time ==== -->

  <xsl:template match="history">
    <h2 id="history">How it went</h2>
    <p>
      <xsl:value-of select="concat('Time goes to the right, ', @seconds, ' s in all; the bars are runs, at most ', @highest, ' in one. ')"/>
      <xsl:if test="kind">Below, each kind of failure by how many runs came to it.</xsl:if>
      <xsl:if test="@left-out &gt; 0">
        <xsl:value-of select="concat(' ', @left-out, ' runs are of yet other kinds, which are not shown.')"/>
      </xsl:if>
      <xsl:if test="@damaged &gt; 0">
        <xsl:text> </xsl:text>
        <xsl:call-template name="count">
          <xsl:with-param name="of" select="@damaged"/><xsl:with-param name="one" select="'line'"/>
        </xsl:call-template>
        <xsl:text> of the journal could not be read.</xsl:text>
      </xsl:if>
    </p>
    <div class="scroll" tabindex="0" role="region" aria-label="picture of how it went">
      <svg xmlns="http://www.w3.org/2000/svg" role="img" width="{@width}" height="{@height}"
           viewBox="0 0 {@width} {@height}" font-family="sans-serif" font-size="11"
           aria-label="Runs and kinds of failure over time; the tables below have the numbers.">
        <xsl:apply-templates select="bar/part | kind"/>
      </svg>
    </div>
    <xsl:if test="kind">
      <div class="scroll" tabindex="0" role="region" aria-label="kinds of failure over time">
        <table>
          <thead>
            <tr>
              <th scope="col">kind of failure</th><th scope="col" class="number">runs</th>
              <th scope="col" class="number">first at (s)</th><th scope="col" class="number">in run</th>
              <th scope="col" class="number">last at (s)</th>
            </tr>
          </thead>
          <tbody>
            <xsl:for-each select="kind">
              <tr>
                <th scope="row"><xsl:value-of select="@name"/></th>
                <td class="number"><xsl:value-of select="@count"/></td>
                <td class="number"><xsl:value-of select="@first"/></td>
                <td class="number"><xsl:value-of select="@first-number"/></td>
                <td class="number"><xsl:value-of select="@last"/></td>
              </tr>
            </xsl:for-each>
          </tbody>
        </table>
      </div>
    </xsl:if>
    <details>
      <summary>The numbers by time</summary>
      <div class="scroll" tabindex="0" role="region" aria-label="runs over time">
        <table>
          <thead>
            <tr>
              <th scope="col">time</th><th scope="col" class="number">runs</th>
              <th scope="col" class="number">passed</th><th scope="col" class="number">violations</th>
              <th scope="col" class="number">unknown or vacuous</th><th scope="col" class="number">harness errors</th>
              <th scope="col" class="number">new kinds of failure</th>
              <th scope="col" class="number">claims whose situation has arisen</th>
            </tr>
          </thead>
          <tbody>
            <xsl:for-each select="bar">
              <tr>
                <th scope="row"><xsl:value-of select="@name"/></th>
                <td class="number"><xsl:value-of select="@runs"/></td>
                <td class="number"><xsl:value-of select="@pass"/></td>
                <td class="number"><xsl:value-of select="@violation"/></td>
                <td class="number"><xsl:value-of select="@undecided"/></td>
                <td class="number"><xsl:value-of select="@harness-error"/></td>
                <td class="number"><xsl:value-of select="@fresh"/></td>
                <td class="number"><xsl:value-of select="@arose"/></td>
              </tr>
            </xsl:for-each>
          </tbody>
        </table>
      </div>
    </details>
  </xsl:template>

  <xsl:template match="kind">
    <xsl:variable name="fill"><xsl:call-template name="fill-of-end"/></xsl:variable>
    <text xmlns="http://www.w3.org/2000/svg" class="ink" fill="#1b1f24" x="0" y="{@y}"><xsl:value-of select="@name"/></text>
    <xsl:for-each select="cell">
      <g xmlns="http://www.w3.org/2000/svg">
        <title><xsl:value-of select="concat(../@name, ': ', @count)"/></title>
        <rect x="{@x}" y="{../@y + 4}" width="{../../@bar-width}" height="{../../@cell-height}"
              fill="#ffffff" stroke="{$fill}" stroke-width="2"/>
        <text text-anchor="middle" fill="#1b1f24" x="{@x + ../../@bar-width div 2}"
              y="{../@y + 15}"><xsl:value-of select="@count"/></text>
      </g>
    </xsl:for-each>
  </xsl:template>

  <!-- ==== the sets before ==== -->

  <xsl:template match="trend">
    <h2 id="trend">How the runs before went</h2>
    <p>
      <xsl:if test="count(bar) &lt; @all">
        <xsl:value-of select="concat('The newest ', count(bar), ' of ', @all, ' sets of runs. ')"/>
      </xsl:if>
      <xsl:text>Oldest on the left; the height is the number of runs.</xsl:text>
    </p>
    <svg xmlns="http://www.w3.org/2000/svg" role="img" width="{@width}" height="{@height}"
         viewBox="0 0 {@width} {@height}" font-family="sans-serif" font-size="11"
         aria-label="A bar for each set of runs; the table below has the numbers.">
      <xsl:apply-templates select="bar/part"/>
    </svg>
    <div class="scroll" tabindex="0" role="region" aria-labelledby="trend">
      <table>
        <thead>
          <tr>
            <th scope="col">runs</th><th scope="col">verdict</th>
            <th scope="col" class="number">passed</th>
            <th scope="col" class="number">violations</th>
            <th scope="col" class="number">unknown or vacuous</th>
            <th scope="col" class="number">harness errors</th>
          </tr>
        </thead>
        <tbody>
          <xsl:for-each select="bar">
            <xsl:sort select="position()" data-type="number" order="descending"/>
            <tr>
              <th scope="row">
                <a href="{@name}/"><xsl:value-of select="@name"/></a>
                <xsl:if test="@is-campaign"> (campaign)</xsl:if>
              </th>
              <td><xsl:call-template name="worst"/></td>
              <td class="number"><xsl:value-of select="@pass"/></td>
              <td class="number"><xsl:value-of select="@violation"/></td>
              <td class="number"><xsl:value-of select="@undecided"/></td>
              <td class="number"><xsl:value-of select="@harness-error"/></td>
            </tr>
          </xsl:for-each>
        </tbody>
      </table>
    </div>
  </xsl:template>

  <xsl:template name="fill-of-end">
    <xsl:choose>
      <xsl:when test="@end = 'pass'">#7ac68c</xsl:when>
      <xsl:when test="@end = 'violation'">#b3261e</xsl:when>
      <xsl:when test="@end = 'undecided'">#d9a520</xsl:when>
      <xsl:otherwise>#8f6fd1</xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- What is bad is told by a sign too, where there is room for it. -->
  <xsl:template match="part">
    <xsl:variable name="fill"><xsl:call-template name="fill-of-end"/></xsl:variable>
    <g xmlns="http://www.w3.org/2000/svg">
      <title><xsl:value-of select="concat(../@name, ': ', @count, ' ', @end)"/></title>
      <rect x="{../@x}" y="{@y}" width="{../../@bar-width}" height="{@height}" fill="{$fill}"
            stroke="#1b1f24" stroke-width="0.5"/>
      <xsl:if test="@height &gt;= 12 and @end != 'pass'">
        <text text-anchor="middle" x="{../@x + ../../@bar-width div 2}"
              y="{@y + @height div 2 + 4}">
          <xsl:attribute name="fill">
            <xsl:choose>
              <xsl:when test="@end = 'violation'">#ffffff</xsl:when>
              <xsl:otherwise>#1b1f24</xsl:otherwise>
            </xsl:choose>
          </xsl:attribute>
          <xsl:choose>
            <xsl:when test="@end = 'violation'">&#x2717;</xsl:when>
            <xsl:when test="@end = 'undecided'">?</xsl:when>
            <xsl:otherwise>!</xsl:otherwise>
          </xsl:choose>
        </text>
      </xsl:if>
    </g>
  </xsl:template>
</xsl:stylesheet>
