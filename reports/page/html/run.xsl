<?xml version="1.0" encoding="UTF-8"?>
<!-- The page of one run: the diagnostic in prose, the picture around the witness, and below it
     everything else. The document is written by reports/page/report_run.c. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:svg="http://www.w3.org/2000/svg" exclude-result-prefixes="svg">
  <xsl:include href="common.xsl"/>
  <xsl:include href="diagram.xsl"/>
  <xsl:output method="html" encoding="UTF-8" indent="no" doctype-system="about:legacy-compat"/>

  <xsl:key name="event" match="diagram/events/event" use="@id"/>
  <xsl:key name="event" match="diagram/events/event" use="@below-id"/>

  <!-- Call stacks: at events of this run, and of ranks that were killed. -->
  <xsl:key name="stack" match="/run/stack[@of = 'event']" use="concat('f-', @id)"/>
  <xsl:key name="killed" match="/run/stack[@of = 'killed']" use="@id"/>

  <xsl:template match="/run">
    <xsl:call-template name="page">
      <xsl:with-param name="title">
        <xsl:value-of select="@verdict"/><xsl:if test="@verdict">: </xsl:if>
        <xsl:call-template name="run-name"/>
      </xsl:with-param>
      <xsl:with-param name="content">
        <xsl:apply-templates select="." mode="heading"/>
        <xsl:apply-templates select="diagram/figure[1]" mode="first"/>
        <xsl:apply-templates select="waits"/>
        <xsl:apply-templates select="undrawn"/>
        <xsl:apply-templates select="beside"/>
        <xsl:apply-templates select="diagram/figure[2]" mode="second"/>
        <xsl:if test="stack | no-stack"><xsl:call-template name="stacks"/></xsl:if>
        <xsl:if test="output"><xsl:call-template name="outputs"/></xsl:if>
        <xsl:apply-templates select="judgement" mode="rest"/>
        <xsl:apply-templates select="diagram" mode="table"/>
        <xsl:apply-templates select="facts"/>
      </xsl:with-param>
    </xsl:call-template>
  </xsl:template>

  <xsl:template name="run-name">
    <xsl:choose>
      <xsl:when test="@name"><xsl:value-of select="@name"/></xsl:when>
      <xsl:when test="@program"><xsl:value-of select="@program"/></xsl:when>
      <xsl:otherwise><xsl:value-of select="@folder"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- the diagnostic -->

  <xsl:template match="run" mode="heading">
    <header>
      <h1>
        <xsl:choose>
          <xsl:when test="judgement">
            <xsl:call-template name="verdict"><xsl:with-param name="of" select="judgement/@verdict"/></xsl:call-template>
          </xsl:when>
          <xsl:otherwise>not judged</xsl:otherwise>
        </xsl:choose>
        <xsl:text>: </xsl:text>
        <xsl:call-template name="run-name"/>
      </h1>
      <xsl:apply-templates select="judgement" mode="heading"/>
      <p class="repeat">
        <xsl:text>Repeat: </xsl:text>
        <xsl:call-template name="copy"><xsl:with-param name="text" select="repeat"/></xsl:call-template>
      </p>
      <p class="summary"><xsl:apply-templates select="." mode="summary"/></p>
    </header>
  </xsl:template>

  <xsl:template match="judgement" mode="heading">
    <xsl:if test="claim">
      <p class="claim">
        <xsl:if test="@verdict = 'pass'">As the scenario expects, </xsl:if>
        <strong><xsl:value-of select="claim/@id"/></strong>
        <xsl:if test="@verdict = 'pass'"> is violated</xsl:if>
        <xsl:if test="claim/@text">
          <xsl:text>: </xsl:text><xsl:value-of select="claim/@text"/>
          <xsl:text> (</xsl:text><xsl:value-of select="claim/@source"/><xsl:text>)</xsl:text>
        </xsl:if>
      </p>
    </xsl:if>
    <xsl:if test="why or finding/why">
      <ol class="why">
        <xsl:for-each select="why | finding/why">
          <li><xsl:apply-templates mode="sentence"/></li>
        </xsl:for-each>
      </ol>
    </xsl:if>
    <xsl:if test="@control">
      <p class="control">
        <xsl:text>Control run: the same scenario </xsl:text>
        <strong><xsl:value-of select="@control"/></strong>.
      </p>
    </xsl:if>
    <xsl:if test="@mpiexec">
      <p class="control">
        <xsl:text>Repeated under mpiexec: </xsl:text>
        <strong><xsl:value-of select="@mpiexec"/></strong>.
      </p>
    </xsl:if>
    <xsl:if test="finding/witness">
      <p class="witness">
        <xsl:text>Witness: </xsl:text>
        <xsl:for-each select="finding/witness">
          <xsl:if test="position() > 1">, </xsl:if>
          <xsl:apply-templates mode="sentence"/>
        </xsl:for-each>
      </p>
    </xsl:if>
  </xsl:template>

  <!-- An event named in a sentence: a link if it is in the table, with the letter that it has in
       the picture. -->
  <xsl:template match="event" mode="sentence">
    <xsl:variable name="row" select="key('event', concat('f-', @id))[1]"/>
    <xsl:choose>
      <xsl:when test="$row">
        <a class="event" href="#{$row/@id}" data-event="{$row/@id}">
          <xsl:value-of select="."/>
          <xsl:if test="$row/@letter">
            <xsl:text> </xsl:text><b class="letter"><xsl:value-of select="$row/@letter"/></b>
          </xsl:if>
        </a>
      </xsl:when>
      <xsl:otherwise><span class="event"><xsl:value-of select="."/></span></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template match="run" mode="summary">
    <xsl:if test="facts">
      <xsl:value-of select="facts/@end"/>
      <xsl:text> after </xsl:text>
      <xsl:call-template name="count">
        <xsl:with-param name="of" select="facts/@incarnations"/>
        <xsl:with-param name="one">incarnation</xsl:with-param>
      </xsl:call-template>
      <xsl:if test="not(waits)">
        <xsl:text>: </xsl:text><xsl:value-of select="facts/@end-text"/>
      </xsl:if>
      <xsl:text>; faults asked for: </xsl:text>
      <xsl:value-of select="count(facts/step[@fault])"/>
      <xsl:text>, installed: </xsl:text>
      <xsl:value-of select="count(facts/step[@fault and @done])"/>
      <xsl:if test="facts/@reference">
        <xsl:text>; compared with </xsl:text><xsl:value-of select="facts/@reference"/>
      </xsl:if>
      <xsl:text>; seed </xsl:text><xsl:value-of select="facts/@seed"/>
      <xsl:text>. </xsl:text>
    </xsl:if>
    <xsl:if test="@protocol">
      <xsl:text>Protocol </xsl:text><xsl:value-of select="@protocol"/>
      <xsl:text>, program </xsl:text><xsl:value-of select="@program"/>
      <xsl:text>, </xsl:text>
      <xsl:call-template name="count">
        <xsl:with-param name="of" select="@ranks"/><xsl:with-param name="one">rank</xsl:with-param>
      </xsl:call-template>
      <xsl:text> (</xsl:text><xsl:value-of select="@file"/><xsl:text>:</xsl:text>
      <xsl:value-of select="@line"/><xsl:text>).</xsl:text>
    </xsl:if>
  </xsl:template>

  <!-- pictures -->

  <xsl:template match="figure" mode="first">
    <figure id="{../@id}-{@name}">
      <figcaption>
        <xsl:choose>
          <xsl:when test="@name = 'brief' and event[@letter]">
            <strong>The witness</strong><xsl:text> and what stands next to it: </xsl:text>
          </xsl:when>
          <xsl:when test="@name = 'brief'">
            <strong>The deaths</strong><xsl:text> and what stands next to them: </xsl:text>
          </xsl:when>
          <xsl:otherwise><strong>The run</strong><xsl:text>: </xsl:text></xsl:otherwise>
        </xsl:choose>
        <xsl:apply-templates select="." mode="amount"/>
      </figcaption>
      <div class="scroll" tabindex="0" role="region" aria-label="space-time diagram, {@name}">
        <xsl:apply-templates select="." mode="svg">
          <xsl:with-param name="label">Space-time diagram around the witness</xsl:with-param>
        </xsl:apply-templates>
      </div>
      <xsl:call-template name="legend"/>
    </figure>
  </xsl:template>

  <xsl:template match="figure" mode="second">
    <h2 id="{../@id}-{@name}-heading">All that is shown of the run</h2>
    <figure id="{../@id}-{@name}">
      <figcaption><xsl:apply-templates select="." mode="amount"/></figcaption>
      <div class="scroll" tabindex="0" role="region" aria-label="space-time diagram, {@name}">
        <xsl:apply-templates select="." mode="svg">
          <xsl:with-param name="label">Space-time diagram of the run</xsl:with-param>
        </xsl:apply-templates>
      </div>
    </figure>
  </xsl:template>

  <xsl:template match="figure" mode="amount">
    <xsl:value-of select="@shown"/><xsl:text> of </xsl:text><xsl:value-of select="../@total"/>
    <xsl:text> events. Columns show order, not time</xsl:text>
    <xsl:if test="event/@faded">; what did not happen before the witness is pale</xsl:if>
    <xsl:text>. </xsl:text>
    <xsl:if test="../@uncertain">Some messages could not be matched. </xsl:if>
  </xsl:template>

  <xsl:template name="legend">
    <p class="legend">
      <span><b>Messages:</b> solid within an epoch</span><xsl:text> </xsl:text>
      <xsl:if test="arrow[@kind = 'late']"><span class="late">long dashes: late</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="arrow[@kind = 'early']"><span class="early">dots: early</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="arrow[@kind = 'replayed']"><span class="replayed">dash and dot: replayed</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="arrow[@kind = 'suppressed']"><span class="suppressed">wide dots: suppressed</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="arrow[@kind = 'control']"><span class="control">thin, hollow head: of the wire alone (control)</span><xsl:text> </xsl:text></xsl:if>
      <span><b>Events:</b> &#x25CF; send</span><xsl:text> </xsl:text><span>&#x25CB; delivery</span><xsl:text> </xsl:text>
      <xsl:if test="event[@shape = 'collective']"><span>&#x25A0; collective</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'checkpoint']"><span>&#x25C6; checkpoint</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'saved']"><span>&#x25C7; saved</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'commit']"><span>&#x2605; commit</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'restored']"><span>&#x21BA; restored</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'kill']"><span>&#x2717; kill</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="life/@cause"><span>&#xD7; at the end of a line: the process died</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="news[@kind = 'taken-over']"><span>thick line: takes the dead one's rank over</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="news[@kind = 'learned']"><span>dots: learns of the death</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="news[@kind = 'revoked']"><span>wave: a communicator is revoked</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="life/gap"><span>dotted line: events left out</span><xsl:text> </xsl:text></xsl:if>
    </p>
  </xsl:template>

  <!-- a hang -->

  <xsl:template match="waits">
    <section class="waits" aria-labelledby="waits-heading">
      <h2 id="waits-heading">Who waits for whom</h2>
      <div class="columns">
        <xsl:if test="@size"><xsl:apply-templates select="." mode="svg"/></xsl:if>
        <ul>
          <xsl:for-each select="wait">
            <li>
              <xsl:value-of select="."/><xsl:text>: </xsl:text>
              <xsl:variable name="row" select="key('event', concat('f-', @event))[1]"/>
              <xsl:choose>
                <xsl:when test="$row"><a class="event" href="#{$row/@id}"><xsl:value-of select="@ref"/></a></xsl:when>
                <xsl:otherwise><span class="event"><xsl:value-of select="@ref"/></span></xsl:otherwise>
              </xsl:choose>
              <xsl:if test="/run/stack[@of = 'hang' and @rank = current()/@rank]">
                <xsl:text>, </xsl:text><a href="#stack-{@rank}">call stack</a>
              </xsl:if>
            </li>
          </xsl:for-each>
        </ul>
      </div>
      <xsl:if test="@cycle > 0"><p>The first <xsl:value-of select="@cycle"/> form a cycle.</p></xsl:if>
    </section>
  </xsl:template>

  <xsl:template name="stacks">
    <xsl:variable name="hang" select="stack[@of = 'hang']"/>
    <xsl:variable name="rest" select="stack[@of != 'hang']"/>
    <xsl:if test="$hang">
      <section aria-labelledby="stacks-heading">
        <h2 id="stacks-heading">Where the ranks were</h2>
        <xsl:apply-templates select="$hang" mode="stack"/>
      </section>
    </xsl:if>
    <xsl:if test="$rest | no-stack">
      <section aria-labelledby="kept-stacks-heading">
        <h2 id="kept-stacks-heading">Call stacks</h2>
        <xsl:for-each select="no-stack"><p><xsl:value-of select="."/></p></xsl:for-each>
        <xsl:apply-templates select="$rest" mode="stack"/>
      </section>
    </xsl:if>
  </xsl:template>

  <xsl:template match="stack" mode="stack">
    <details>
      <xsl:attribute name="id"><xsl:apply-templates select="." mode="stack-id"/></xsl:attribute>
      <xsl:if test="position() &lt; 5 or @of != 'hang'"><xsl:attribute name="open">open</xsl:attribute></xsl:if>
      <summary>
        <xsl:variable name="row" select="key('event', concat('f-', @id))[1]"/>
        <xsl:choose>
          <xsl:when test="@of = 'hang'">rank <xsl:value-of select="@rank"/></xsl:when>
          <xsl:otherwise><xsl:value-of select="@ref"/></xsl:otherwise>
        </xsl:choose>
        <xsl:if test="@of = 'event' and $row">
          <xsl:if test="$row/@letter"><xsl:text> </xsl:text><b class="letter"><xsl:value-of select="$row/@letter"/></b></xsl:if>
          <xsl:text>: </xsl:text><xsl:value-of select="$row/@words"/>
        </xsl:if>
      </summary>
      <pre tabindex="0"><xsl:value-of select="."/></pre>
    </details>
  </xsl:template>

  <xsl:template match="stack" mode="stack-id">
    <xsl:text>stack-</xsl:text>
    <xsl:choose>
      <xsl:when test="@of = 'hang'"><xsl:value-of select="@rank"/></xsl:when>
      <xsl:when test="@of = 'event'">f-<xsl:value-of select="@id"/></xsl:when>
      <xsl:otherwise><xsl:value-of select="@id"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- The stack of an event, or of the rank that is killed there, or in which the rank hangs. -->
  <xsl:template match="event" mode="stack-id">
    <xsl:variable name="found" select="(key('stack', @id) | key('stack', @below-id) | key('killed', @victim))[1]"/>
    <xsl:choose>
      <xsl:when test="not(ancestor::diagram[@id = 'f'])"/>
      <xsl:when test="$found"><xsl:apply-templates select="$found" mode="stack-id"/></xsl:when>
      <xsl:when test="@took = 'in progress' and /run/stack[@of = 'hang' and @rank = current()/@rank]">stack-<xsl:value-of select="@rank"/></xsl:when>
    </xsl:choose>
  </xsl:template>

  <xsl:template match="undrawn">
    <p class="undrawn"><strong>Not drawn:</strong><xsl:text> </xsl:text><xsl:value-of select="."/></p>
  </xsl:template>

  <!-- side by side -->

  <xsl:template match="beside">
    <section class="beside" aria-labelledby="beside-heading">
      <h2 id="beside-heading">
        <xsl:text>Beside it: </xsl:text>
        <xsl:if test="@verdict">
          <xsl:call-template name="verdict"><xsl:with-param name="of" select="@verdict"/></xsl:call-template>
          <xsl:text>: </xsl:text>
        </xsl:if>
        <xsl:call-template name="run-name"/>
      </h2>
      <p><code><xsl:value-of select="@folder"/></code></p>
      <xsl:apply-templates select="undrawn"/>
      <xsl:apply-templates select="diagram/figure" mode="beside"/>
      <xsl:apply-templates select="diagram" mode="table"/>
    </section>
  </xsl:template>

  <xsl:template match="figure" mode="beside">
    <figure id="{../@id}-{@name}">
      <figcaption><xsl:if test="@name = 'brief'">Around the same events: </xsl:if><xsl:apply-templates select="." mode="amount"/></figcaption>
      <div class="scroll" tabindex="0" role="region" aria-label="space-time diagram of the other run, {@name}">
        <xsl:apply-templates select="." mode="svg">
          <xsl:with-param name="label">Space-time diagram of the other run</xsl:with-param>
        </xsl:apply-templates>
      </div>
    </figure>
  </xsl:template>

  <!-- the table -->

  <xsl:template match="diagram" mode="table">
    <details class="events" id="{@id}-events">
      <!-- Of a run that passed there is nothing else to look at. -->
      <xsl:if test="@id = 'f' and /run/judgement/@verdict = 'pass'"><xsl:attribute name="open">open</xsl:attribute></xsl:if>
      <summary>
        <h2 class="inline">Events<xsl:if test="@id = 'b'"> of the other run</xsl:if></h2>
        <xsl:text>: </xsl:text>
        <xsl:value-of select="@shown"/><xsl:text> of </xsl:text><xsl:value-of select="@total"/>
      </summary>
      <div class="scroll tall" tabindex="0" role="region" aria-label="table of events">
        <table>
          <thead>
            <tr>
              <th scope="col">event</th><th scope="col">at (s)</th><th scope="col">took</th>
              <th scope="col">what</th><th scope="col">message</th><th scope="col">communicator</th>
            </tr>
          </thead>
          <tbody><xsl:apply-templates select="events/event" mode="row"/></tbody>
        </table>
      </div>
    </details>
  </xsl:template>

  <xsl:template match="event" mode="row">
    <xsl:variable name="stack"><xsl:apply-templates select="." mode="stack-id"/></xsl:variable>
    <tr id="{@id}" data-rank="{@rank}" data-kind="{@kind}" data-comm="{@comm}" data-level="{@level}">
      <xsl:if test="$stack != ''"><xsl:attribute name="data-stack"><xsl:value-of select="$stack"/></xsl:attribute></xsl:if>
      <xsl:if test="@letter"><xsl:attribute name="class">is-witness</xsl:attribute></xsl:if>
      <td class="event">
        <xsl:value-of select="@ref"/>
        <xsl:if test="@letter"><xsl:text> </xsl:text><b class="letter"><xsl:value-of select="@letter"/></b></xsl:if>
      </td>
      <td class="number"><xsl:value-of select="@at"/></td>
      <td class="number">
        <xsl:value-of select="@took"/>
        <xsl:if test="$stack != ''"><xsl:text> </xsl:text><a href="#{$stack}">stack</a></xsl:if>
      </td>
      <td class="words">
        <xsl:value-of select="@words"/>
        <xsl:if test="@below"><span class="below"> (wire: e<xsl:value-of select="@below"/>)</span></xsl:if>
      </td>
      <td>
        <xsl:for-each select="message">
          <xsl:if test="position() > 1"><xsl:text>; </xsl:text></xsl:if>
          <xsl:if test="@kind != 'message'"><xsl:value-of select="@kind"/><xsl:text> </xsl:text></xsl:if>
          <xsl:value-of select="@end"/><xsl:text> </xsl:text>
          <xsl:choose>
            <xsl:when test="@id"><a class="event" href="#{@id}"><xsl:value-of select="@other"/></a></xsl:when>
            <xsl:when test="@other"><span class="event"><xsl:value-of select="@other"/></span></xsl:when>
            <xsl:when test="@end = 'to'">nobody</xsl:when>
            <xsl:otherwise>its log</xsl:otherwise>
          </xsl:choose>
        </xsl:for-each>
      </td>
      <td><xsl:value-of select="@comm"/></td>
    </tr>
  </xsl:template>

  <!-- the rest -->

  <xsl:template match="facts">
    <section aria-labelledby="run-heading">
      <h2 id="run-heading">The run</h2>
      <xsl:if test="step">
        <ol class="plan">
          <xsl:for-each select="step">
            <li>
              <code><xsl:value-of select="."/></code>
              <xsl:choose>
                <xsl:when test="@done and @rank">
                  <xsl:text> &#x2014; done by r</xsl:text><xsl:value-of select="@rank"/>
                  <xsl:text>#</xsl:text><xsl:value-of select="@incarnation"/>
                </xsl:when>
                <xsl:when test="@done"> &#x2014; done</xsl:when>
                <xsl:otherwise> &#x2014; <strong>not done</strong></xsl:otherwise>
              </xsl:choose>
            </li>
          </xsl:for-each>
        </ol>
      </xsl:if>
      <xsl:if test="rank-end">
        <ul class="ends">
          <xsl:for-each select="rank-end">
            <li>
              <span class="event">r<xsl:value-of select="@rank"/>#<xsl:value-of select="@incarnation"/></span>
              <xsl:text> </xsl:text><xsl:value-of select="."/>
            </li>
          </xsl:for-each>
        </ul>
      </xsl:if>
    </section>
  </xsl:template>

  <xsl:template match="judgement" mode="rest">
    <xsl:if test="also">
      <section aria-labelledby="also-heading">
        <h2 id="also-heading">Also found</h2>
        <xsl:if test="@group"><p>Group: <code><xsl:value-of select="@group"/></code></p></xsl:if>
        <ul>
          <xsl:for-each select="also">
            <li>
              <strong><xsl:value-of select="@claim"/></strong><xsl:text> </xsl:text>
              <xsl:call-template name="verdict"><xsl:with-param name="of" select="@verdict"/></xsl:call-template>
              <xsl:if test="@follows"><xsl:text> follows from the first finding:</xsl:text></xsl:if>
              <xsl:for-each select="why"><xsl:text> </xsl:text><xsl:apply-templates mode="sentence"/><xsl:text>.</xsl:text></xsl:for-each>
            </li>
          </xsl:for-each>
        </ul>
      </section>
    </xsl:if>
    <xsl:if test="result">
      <section aria-labelledby="claims-heading">
        <h2 id="claims-heading">Claims judged</h2>
        <div class="scroll" tabindex="0" role="region" aria-label="table of claims">
          <table>
            <thead>
              <tr>
                <th scope="col">claim</th><th scope="col">verdict</th>
                <th scope="col" class="number">situations</th><th scope="col" class="number">violations</th>
                <th scope="col">what it says</th>
              </tr>
            </thead>
            <tbody>
              <xsl:for-each select="result">
                <tr>
                  <td><xsl:value-of select="@claim"/></td>
                  <td><xsl:call-template name="verdict"><xsl:with-param name="of" select="@verdict"/></xsl:call-template></td>
                  <td class="number"><xsl:value-of select="@situations"/></td>
                  <td class="number"><xsl:value-of select="@violations"/></td>
                  <td><xsl:value-of select="@text"/><xsl:if test="@source"> (<xsl:value-of select="@source"/>)</xsl:if></td>
                </tr>
              </xsl:for-each>
            </tbody>
          </table>
        </div>
      </section>
    </xsl:if>
  </xsl:template>

  <xsl:template name="outputs">
    <section aria-labelledby="output-heading">
      <h2 id="output-heading">What was printed last</h2>
      <xsl:for-each select="output">
        <h3><xsl:value-of select="@of"/></h3>
        <pre tabindex="0"><xsl:value-of select="."/></pre>
      </xsl:for-each>
    </section>
  </xsl:template>

</xsl:stylesheet>
