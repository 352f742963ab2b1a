<?xml version="1.0" encoding="UTF-8"?>
<!-- Space-time diagrams and wait-for graphs as SVG. Coordinates come from the document; here are
     forms and colours, as attributes, so that a page without its style still shows them. A message
     is told by its dashes and the letter at its middle, an event by its form: no colour is the only
     sign. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns="http://www.w3.org/2000/svg">

  <xsl:template match="figure" mode="svg">
    <xsl:param name="label"/>
    <!-- The ids of a brief picture are not those of the whole one. -->
    <xsl:variable name="name" select="@name"/>
    <svg class="diagram" role="group" aria-label="{$label}" width="{@width}" height="{@height}"
         viewBox="0 0 {@width} {@height}" data-name="{@name}"
         font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="10">
      <xsl:apply-templates select="band" mode="svg"/>
      <xsl:apply-templates select="row" mode="svg"/>
      <xsl:apply-templates select="life" mode="svg"/>
      <xsl:apply-templates select="line" mode="svg"/>
      <xsl:apply-templates select="news" mode="svg"/>
      <xsl:apply-templates select="arrow[@faded]" mode="svg"/>
      <xsl:apply-templates select="arrow[not(@faded) and not(@witness)]" mode="svg"/>
      <xsl:apply-templates select="arrow[@witness]" mode="svg"/>
      <xsl:apply-templates select="event" mode="svg"/>
    </svg>
  </xsl:template>

  <!-- ranks and lives -->

  <xsl:template match="row" mode="svg">
    <g class="row" data-rank="{@rank}">
      <text x="6" y="{@y + 4}" font-size="12" font-weight="bold" fill="#1b1f24" class="name">
        <xsl:text>rank </xsl:text>
        <xsl:choose>
          <xsl:when test="@as"><xsl:value-of select="@as"/></xsl:when>
          <xsl:otherwise>&#x2013;</xsl:otherwise>
        </xsl:choose>
      </text>
      <xsl:if test="@later">
        <text class="life-name" x="6" y="{@y + 17}" font-size="9" fill="#545d68">
          <xsl:text>process </xsl:text><xsl:value-of select="@rank"/>
        </text>
      </xsl:if>
    </g>
  </xsl:template>

  <xsl:template match="life" mode="svg">
    <g class="life" data-rank="{@rank}">
      <line x1="{@x}" y1="{@y}" x2="{@to}" y2="{@y}" stroke="#3d444d" stroke-width="1.4"/>
      <xsl:for-each select="gap">
        <line class="gap" x1="{@x + 6}" y1="{../@y}" x2="{@to - 6}" y2="{../@y}" stroke="#ffffff"
              stroke-width="2.4" stroke-dasharray="2 3"/>
      </xsl:for-each>
      <text class="life-name" x="{@x}" y="{@y + 18}" font-size="9" fill="#545d68">
        <xsl:value-of select="@name"/>
      </text>
      <xsl:choose>
        <xsl:when test="@died">
          <path class="died" d="M{@to - 4},{@y - 4} l8,8 m0,-8 l-8,8" stroke="#b3261e"
                stroke-width="1.8" fill="none">
            <title>
              <xsl:value-of select="@name"/>
              <xsl:choose>
                <xsl:when test="@cause"><xsl:text> died: </xsl:text><xsl:value-of select="@cause"/></xsl:when>
                <xsl:otherwise> did not come to its end by itself</xsl:otherwise>
              </xsl:choose>
            </title>
          </path>
          <xsl:if test="@cause">
            <text class="label cause" x="{@to}" y="{@y - 14}" text-anchor="middle" fill="#1b1f24"
                  paint-order="stroke" stroke="#ffffff" stroke-width="3" stroke-linejoin="round">
              <xsl:value-of select="@cause"/>
            </text>
          </xsl:if>
        </xsl:when>
        <xsl:when test="@open">
          <path class="open-end" d="M{@to},{@y} h12" stroke="#3d444d" stroke-width="2.4" fill="none"
                stroke-dasharray="2 3">
            <title><xsl:value-of select="@name"/> was still running when the run was ended</title>
          </path>
        </xsl:when>
        <xsl:otherwise>
          <line x1="{@to}" y1="{@y - 4}" x2="{@to}" y2="{@y + 4}" stroke="#3d444d"
                stroke-width="1.4"><title><xsl:value-of select="@name"/> ended</title></line>
        </xsl:otherwise>
      </xsl:choose>
    </g>
  </xsl:template>

  <xsl:template match="line" mode="svg">
    <g class="cut {@kind}">
      <polyline points="{@points}" fill="none" stroke="#1a7f37" stroke-width="2"
                stroke-linejoin="round">
        <xsl:if test="@kind = 'stop-log'">
          <xsl:attribute name="stroke">#7a5200</xsl:attribute>
          <xsl:attribute name="stroke-dasharray">6 3</xsl:attribute>
        </xsl:if>
        <title><xsl:value-of select="@kind"/> line <xsl:value-of select="@number"/></title>
      </polyline>
    </g>
  </xsl:template>

  <xsl:template match="band" mode="svg">
    <rect class="band" data-kind="collective" data-comm="{@comm}" x="{@x}" y="{@y}" rx="6"
          width="{@width}" height="{@height}" fill="#dde6f2" stroke="#8ba3c4">
      <xsl:if test="@faded"><xsl:attribute name="opacity">0.4</xsl:attribute></xsl:if>
      <title><xsl:value-of select="@words"/></title>
    </rect>
  </xsl:template>

  <!-- messages -->

  <xsl:template name="stroke-of">
    <xsl:param name="kind"/>
    <xsl:choose>
      <xsl:when test="$kind = 'late'">#0b57d0</xsl:when>
      <xsl:when test="$kind = 'early'">#a64b00</xsl:when>
      <xsl:when test="$kind = 'replayed'">#0a6e66</xsl:when>
      <xsl:when test="$kind = 'suppressed'">#8250df</xsl:when>
      <xsl:when test="$kind = 'control'">#6e7781</xsl:when>
      <xsl:otherwise>#3d444d</xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="dashes-of">
    <xsl:param name="kind"/>
    <xsl:choose>
      <xsl:when test="$kind = 'late'">9 4</xsl:when>
      <xsl:when test="$kind = 'early'">2 3</xsl:when>
      <xsl:when test="$kind = 'replayed'">9 3 2 3</xsl:when>
      <xsl:when test="$kind = 'suppressed'">1 4</xsl:when>
    </xsl:choose>
  </xsl:template>

  <xsl:template match="arrow" mode="svg">
    <xsl:variable name="stroke">
      <xsl:call-template name="stroke-of"><xsl:with-param name="kind" select="@kind"/></xsl:call-template>
    </xsl:variable>
    <xsl:variable name="dashes">
      <xsl:call-template name="dashes-of"><xsl:with-param name="kind" select="@kind"/></xsl:call-template>
    </xsl:variable>
    <xsl:variable name="width">
      <xsl:choose>
        <xsl:when test="@witness">2.6</xsl:when>
        <xsl:when test="@kind = 'control'">0.8</xsl:when>
        <xsl:otherwise>1.4</xsl:otherwise>
      </xsl:choose>
    </xsl:variable>
    <g class="arrow {@kind}" data-kind="message" data-comm="{@comm}" data-from="{@from}"
       data-to="{@to}">
      <xsl:if test="@witness"><xsl:attribute name="data-witness">yes</xsl:attribute></xsl:if>
      <xsl:if test="@faded"><xsl:attribute name="opacity">0.3</xsl:attribute></xsl:if>
      <title><xsl:value-of select="@words"/></title>
      <path d="{@path}" fill="none" stroke="{$stroke}" stroke-width="{$width}">
        <xsl:if test="$dashes != ''">
          <xsl:attribute name="stroke-dasharray"><xsl:value-of select="$dashes"/></xsl:attribute>
        </xsl:if>
      </path>
      <polygon points="{@head}" fill="{$stroke}" stroke="{$stroke}">
        <xsl:if test="@kind = 'suppressed' or @kind = 'control'">
          <xsl:attribute name="fill">none</xsl:attribute>
        </xsl:if>
      </polygon>
      <xsl:if test="@name">
        <text x="{@name-x}" y="{@name-y}" text-anchor="middle" fill="{$stroke}" font-size="9"
              paint-order="stroke" stroke="#ffffff" stroke-width="3" stroke-linejoin="round">
          <xsl:if test="@anomaly">
            <xsl:attribute name="fill">#b3261e</xsl:attribute>
            <xsl:attribute name="font-weight">bold</xsl:attribute>
            <xsl:attribute name="class">anomaly</xsl:attribute>
          </xsl:if>
          <xsl:value-of select="@name"/>
        </text>
      </xsl:if>
    </g>
  </xsl:template>

  <!-- what a death brings about -->

  <xsl:template match="news" mode="svg">
    <g class="news {@kind}" data-from="{@from}" data-to="{@to}">
      <title><xsl:value-of select="@words"/></title>
      <xsl:choose>
        <xsl:when test="@kind = 'taken-over'">
          <path d="{@path}" fill="none" stroke="#1a7f37" stroke-width="3"/>
        </xsl:when>
        <xsl:when test="@kind = 'revoked'">
          <path d="{@path}" fill="none" stroke="#b3261e" stroke-width="1.2"/>
        </xsl:when>
        <xsl:otherwise>
          <path d="{@path}" fill="none" stroke="#b3261e" stroke-width="1.2" stroke-dasharray="1 4"
                stroke-linecap="round"/>
        </xsl:otherwise>
      </xsl:choose>
    </g>
  </xsl:template>

  <!-- events: a link to the row of the table -->

  <xsl:template match="event" mode="svg">
    <g class="mark" transform="translate({@x},{@y})">
      <xsl:if test="@faded"><xsl:attribute name="opacity">0.35</xsl:attribute></xsl:if>
      <a class="event" href="#{@id}" data-event="{@id}" data-rank="{@rank}" data-kind="{@kind}"
         data-at="{@exactly}" aria-label="{@words}">
        <xsl:if test="@comm"><xsl:attribute name="data-comm"><xsl:value-of select="@comm"/></xsl:attribute></xsl:if>
        <xsl:choose>
          <xsl:when test="@letter"><xsl:attribute name="data-letter"><xsl:value-of select="@letter"/></xsl:attribute></xsl:when>
          <xsl:otherwise><xsl:attribute name="tabindex">-1</xsl:attribute></xsl:otherwise>
        </xsl:choose>
        <title><xsl:value-of select="@words"/></title>
        <xsl:if test="@letter">
          <circle class="halo" r="11" fill="#ffd9d5" stroke="#b3261e" stroke-width="2"/>
        </xsl:if>
        <xsl:if test="@open">
          <line class="open-call" data-open="yes" x1="-12" y1="0" x2="12" y2="0" stroke="#1b1f24" stroke-width="4"
                stroke-dasharray="3 2"/>
        </xsl:if>
        <xsl:call-template name="shape"/>
      </a>
      <xsl:if test="@label">
        <text class="label" y="-14" text-anchor="middle" fill="#1b1f24" paint-order="stroke" stroke="#ffffff" stroke-width="3" stroke-linejoin="round">
          <xsl:value-of select="@label"/>
        </text>
      </xsl:if>
      <xsl:if test="@letter">
        <text class="letter" x="{@mark}" y="17" font-weight="bold" font-size="12"
              fill="#b3261e"><xsl:value-of select="@letter"/></text>
      </xsl:if>
    </g>
  </xsl:template>

  <xsl:template name="shape">
    <xsl:choose>
      <xsl:when test="@shape = 'send'">
        <circle class="solid" r="4" fill="#3d444d"/>
      </xsl:when>
      <xsl:when test="@shape = 'deliver'">
        <circle class="hollow" r="4" fill="#ffffff" stroke="#3d444d" stroke-width="1.6"/>
      </xsl:when>
      <xsl:when test="@shape = 'collective'">
        <rect class="solid" x="-3.5" y="-3.5" width="7" height="7" fill="#3d5a80"/>
      </xsl:when>
      <xsl:when test="@shape = 'checkpoint'">
        <path class="line-mark" d="M0,-8 L6,0 L0,8 L-6,0 Z" fill="#1a7f37"/>
      </xsl:when>
      <xsl:when test="@shape = 'saved'">
        <path class="line-mark open" d="M0,-7 L5,0 L0,7 L-5,0 Z" fill="#ffffff" stroke="#1a7f37"
              stroke-width="1.6"/>
      </xsl:when>
      <xsl:when test="@shape = 'commit'">
        <path class="line-mark" d="M0,-9 L2.4,-3 L9,-2.8 L3.8,1.2 L5.6,7.6 L0,4 L-5.6,7.6 L-3.8,1.2 L-9,-2.8 L-2.4,-3 Z"
              fill="#1a7f37"/>
      </xsl:when>
      <xsl:when test="@shape = 'restored'">
        <path class="line-mark open" d="M5,-5 A7,7 0 1 0 7,2 M5,-5 L5,-9 M5,-5 L1,-5" fill="none"
              stroke="#1a7f37" stroke-width="1.8"/>
      </xsl:when>
      <xsl:when test="@shape = 'stop'">
        <path class="stop-mark" d="M-3,-7 V7 M3,-7 V7" stroke="#7a5200" stroke-width="2.4" fill="none"/>
      </xsl:when>
      <xsl:when test="@shape = 'kill'">
        <path class="kill-mark" d="M-7,-7 L7,7 M7,-7 L-7,7" stroke="#b3261e" stroke-width="3.4" fill="none"/>
      </xsl:when>
      <xsl:when test="@shape = 'hold'">
        <rect class="fault-mark" x="-6" y="-7" width="12" height="14" fill="#ffffff" stroke="#b3261e" stroke-width="1.4"/>
        <path class="kill-mark" d="M-2,-4 V4 M2,-4 V4" stroke="#b3261e" stroke-width="2" fill="none"/>
      </xsl:when>
      <xsl:when test="@shape = 'release'">
        <path class="fault-mark" d="M-5,-7 L7,0 L-5,7 Z" fill="#ffffff" stroke="#b3261e" stroke-width="1.6"/>
      </xsl:when>
      <xsl:when test="@shape = 'fault'">
        <path class="fault-mark" d="M0,-7 L7,6 L-7,6 Z" fill="#ffffff" stroke="#b3261e" stroke-width="1.6"/>
      </xsl:when>
      <xsl:when test="@shape = 'note'">
        <path class="hollow" d="M-5,-5 H5 V5 H-5 Z" fill="#ffffff" stroke="#3d444d" stroke-width="1.4"/>
      </xsl:when>
      <xsl:when test="@shape = 'told'">
        <path class="stroke" d="M0,-6 V6" stroke="#0a6e66" stroke-width="2"/>
      </xsl:when>
      <xsl:when test="@shape = 'storage'">
        <rect class="hollow" x="-3" y="-3" width="6" height="6" fill="#ffffff" stroke="#6e7781" stroke-width="1.2"/>
      </xsl:when>
      <xsl:when test="@shape = 'comm'">
        <path class="stroke" d="M-5,0 H5 M0,-5 V5" stroke="#3d5a80" stroke-width="2"/>
      </xsl:when>
      <xsl:otherwise>
        <!-- calls, requests posted, waits, probes -->
        <path class="stroke" d="M0,-4 V4" stroke="#6e7781" stroke-width="1.6"/>
      </xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- the whole run by time -->

  <xsl:template match="overview" mode="svg">
    <svg class="overview" role="group" aria-label="How many events each rank had when, the faults and the witness"
         width="{@width}" height="{@height}" viewBox="0 0 {@width} {@height}" data-left="{@left}"
         data-right="{@right}" data-top="{@top}" data-bottom="{@bottom}" data-seconds="{@seconds}"
         font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="10">
      <xsl:for-each select="tick">
        <line class="tick" x1="{@x}" y1="{../@top}" x2="{@x}" y2="{../@bottom + 5}" stroke="#c9d1d9" stroke-width="1"/>
        <text class="tick-name" x="{@x}" y="{../@bottom + 17}" text-anchor="middle" fill="#545d68"><xsl:value-of select="@name"/></text>
      </xsl:for-each>
      <line class="axis" x1="{@left}" y1="{@bottom}" x2="{@right}" y2="{@bottom}" stroke="#3d444d" stroke-width="1"/>
      <xsl:for-each select="lane">
        <text class="name" x="6" y="{@y + 10}" fill="#1b1f24"><xsl:value-of select="@name"/></text>
      </xsl:for-each>
      <xsl:for-each select="shade">
        <path class="shade s{@level}" d="{@path}">
          <xsl:attribute name="fill">
            <xsl:choose>
              <xsl:when test="@level = 1">#b9c7d9</xsl:when>
              <xsl:when test="@level = 2">#7e96b5</xsl:when>
              <xsl:otherwise>#3d5a80</xsl:otherwise>
            </xsl:choose>
          </xsl:attribute>
        </path>
      </xsl:for-each>
      <xsl:for-each select="mark">
        <a class="at {@kind}" href="#{@id}" tabindex="-1" aria-label="{@words}">
          <title><xsl:value-of select="@words"/></title>
          <line class="kill-mark" x1="{@x}" y1="{../@top}" x2="{@x}" y2="{../@bottom}" stroke="#b3261e" stroke-width="1.2">
            <xsl:if test="@kind = 'witness'"><xsl:attribute name="stroke-dasharray">3 2</xsl:attribute></xsl:if>
          </line>
          <circle class="at-mark" cx="{@x}" cy="{@y}" r="4" fill="#b3261e" stroke="#b3261e">
            <xsl:if test="@kind = 'witness'"><xsl:attribute name="fill">#ffd9d5</xsl:attribute></xsl:if>
          </circle>
          <xsl:if test="@name">
            <text class="letter" x="{@name-x}" y="{@name-y}" text-anchor="middle" fill="#b3261e" font-weight="bold">
              <xsl:value-of select="@name"/>
            </text>
          </xsl:if>
        </a>
      </xsl:for-each>
    </svg>
  </xsl:template>

  <!-- who waits for whom -->

  <xsl:template match="waits" mode="svg">
    <svg class="waits" role="img" aria-label="wait-for graph" width="{@size}" height="{@size}"
         viewBox="0 0 {@size} {@size}" font-family="ui-monospace, DejaVu Sans Mono, monospace"
         font-size="11">
      <xsl:for-each select="edge">
        <g class="edge">
          <title>rank <xsl:value-of select="@from"/> waits for rank <xsl:value-of select="@to"/></title>
          <path d="{@path}" fill="none" stroke="#3d444d" stroke-width="1.4">
            <xsl:if test="@cycle">
              <xsl:attribute name="class">cycle</xsl:attribute>
              <xsl:attribute name="stroke">#b3261e</xsl:attribute>
              <xsl:attribute name="stroke-width">2.8</xsl:attribute>
            </xsl:if>
            <xsl:if test="@any"><xsl:attribute name="stroke-dasharray">4 3</xsl:attribute></xsl:if>
          </path>
          <polygon points="{@head}" fill="#3d444d">
            <xsl:if test="@cycle">
              <xsl:attribute name="class">cycle</xsl:attribute>
              <xsl:attribute name="fill">#b3261e</xsl:attribute>
            </xsl:if>
          </polygon>
        </g>
      </xsl:for-each>
      <xsl:for-each select="node">
        <circle class="hollow" cx="{@x}" cy="{@y}" r="17" fill="#ffffff" stroke="#3d444d" stroke-width="1.6">
          <xsl:if test="@cycle">
            <xsl:attribute name="class">hollow cycle</xsl:attribute>
            <xsl:attribute name="stroke">#b3261e</xsl:attribute>
            <xsl:attribute name="stroke-width">2.8</xsl:attribute>
          </xsl:if>
        </circle>
        <text x="{@x}" y="{@y + 4}" text-anchor="middle" fill="#1b1f24">r<xsl:value-of select="@rank"/></text>
      </xsl:for-each>
    </svg>
  </xsl:template>

</xsl:stylesheet>
