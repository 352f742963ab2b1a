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
        <xsl:apply-templates select="diagram" mode="whole"/>
        <xsl:if test="output"><xsl:call-template name="outputs"/></xsl:if>
        <xsl:if test="stack | no-stack"><xsl:call-template name="stacks"/></xsl:if>
        <xsl:apply-templates select="judgement" mode="rest"/>
        <xsl:apply-templates select="facts"/>
        <xsl:apply-templates select="diagram" mode="table"/>
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
      <p class="summary"><xsl:apply-templates select="." mode="summary"/></p>
      <xsl:apply-templates select="judgement" mode="heading"/>
      <xsl:apply-templates select="story"/>
      <xsl:apply-templates select="judgement" mode="proof"/>
      <p class="repeat">
        <xsl:text>Repeat: </xsl:text>
        <xsl:call-template name="copy"><xsl:with-param name="text" select="repeat"/></xsl:call-template>
      </p>
    </header>
  </xsl:template>

  <!-- What is claimed, and why it does not hold here. -->
  <xsl:template match="judgement" mode="heading">
    <xsl:variable name="untested" select="count(result[@verdict = 'vacuous'])"/>
    <xsl:choose>
      <xsl:when test="@verdict = 'vacuous'">
        <p class="means">
          <xsl:text>Vacuous: what was to be tested did not happen, so this run shows nothing.</xsl:text>
        </p>
      </xsl:when>
      <xsl:when test="@verdict = 'unknown'">
        <p class="means">Unknown: it could not be decided whether what is claimed holds.</p>
      </xsl:when>
      <xsl:when test="@verdict = 'harness-error'">
        <p class="means">Harness error: ours, the launcher's or the machine's fault, never the protocol's.</p>
      </xsl:when>
      <xsl:when test="@verdict = 'pass' and not(claim)">
        <p class="means">
          <xsl:text>What was claimed holds in this run</xsl:text>
          <xsl:if test="$untested &gt; 0">
            <xsl:text>, but for </xsl:text>
            <xsl:call-template name="count">
              <xsl:with-param name="of" select="$untested"/><xsl:with-param name="one">claim</xsl:with-param>
            </xsl:call-template>
            <xsl:text> of </xsl:text><xsl:value-of select="count(result)"/>
            <xsl:text> that are </xsl:text>
            <xsl:call-template name="term"><xsl:with-param name="id">vacuous</xsl:with-param></xsl:call-template>
            <xsl:text>: what they speak of did not happen</xsl:text>
          </xsl:if>
          <xsl:text>.</xsl:text>
        </p>
      </xsl:when>
    </xsl:choose>
    <xsl:if test="claim">
      <p class="claim">
        <xsl:choose>
          <xsl:when test="@verdict = 'pass'">As the scenario expects, this claim is violated: </xsl:when>
          <xsl:when test="@verdict = 'violation'">
            <xsl:text>Violated </xsl:text>
            <xsl:call-template name="term"><xsl:with-param name="id">claim</xsl:with-param></xsl:call-template>
            <xsl:text>: </xsl:text>
          </xsl:when>
          <xsl:otherwise>
            <xsl:call-template name="term">
              <xsl:with-param name="id">claim</xsl:with-param><xsl:with-param name="text">Claim</xsl:with-param>
            </xsl:call-template>
            <xsl:text>: </xsl:text>
          </xsl:otherwise>
        </xsl:choose>
        <strong><xsl:value-of select="claim/@id"/></strong>
        <xsl:if test="claim/@text">
          <xsl:text>: </xsl:text><q><xsl:value-of select="claim/@text"/></q>
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
  </xsl:template>

  <xsl:template match="judgement" mode="proof">
    <xsl:if test="@control">
      <p class="control">
        <xsl:call-template name="term">
          <xsl:with-param name="id">control-run</xsl:with-param><xsl:with-param name="text">Control run</xsl:with-param>
        </xsl:call-template>
        <xsl:text>: the same scenario </xsl:text>
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
        <xsl:call-template name="term">
          <xsl:with-param name="id">witness</xsl:with-param><xsl:with-param name="text">Witness</xsl:with-param>
        </xsl:call-template>
        <xsl:text>: </xsl:text>
        <xsl:for-each select="finding/witness">
          <xsl:if test="position() > 1">, </xsl:if>
          <xsl:apply-templates mode="sentence"/>
        </xsl:for-each>
      </p>
    </xsl:if>
  </xsl:template>

  <!-- what happened -->

  <xsl:template match="story">
    <section class="story" aria-labelledby="story-heading">
      <h2 id="story-heading">What happened</h2>
      <!-- Of a run that only passed there is nothing that had to begin. -->
      <xsl:if test="not(/run/judgement/@verdict = 'pass' and not(/run/judgement/claim))">
        <xsl:for-each select="began">
          <p class="began"><strong>What began it: </strong><xsl:apply-templates mode="sentence"/></p>
        </xsl:for-each>
        <xsl:for-each select="not-begun"><p class="not-begun"><xsl:value-of select="."/></p></xsl:for-each>
      </xsl:if>
      <ol class="moments">
        <xsl:apply-templates select="moment[position() &lt;= 10 or position() = last()]"/>
      </ol>
      <xsl:if test="count(moment) &gt; 11">
        <details>
          <summary>
            <xsl:value-of select="concat('and ', count(moment) - 11, ' more before the end')"/>
          </summary>
          <ol class="moments" start="11">
            <xsl:apply-templates select="moment[position() &gt; 10 and position() != last()]"/>
          </ol>
        </details>
      </xsl:if>
    </section>
  </xsl:template>

  <xsl:template match="moment">
    <li class="{@kind}">
      <xsl:if test="@at"><span class="time"><xsl:value-of select="@at"/> s</span><xsl:text> </xsl:text></xsl:if>
      <xsl:apply-templates mode="sentence"/>
      <xsl:if test="@step">
        <span class="step"><xsl:value-of select="concat(' (step ', @step, ' of the plan')"/>
          <xsl:if test="@times"><xsl:value-of select="concat(', ', @times, ' times')"/></xsl:if>
          <xsl:text>)</xsl:text>
        </span>
      </xsl:if>
    </li>
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

  <!-- Below the name: what was run. -->
  <xsl:template match="run" mode="summary">
    <xsl:if test="@protocol">
      <xsl:text>Program </xsl:text><xsl:value-of select="@program"/>
      <xsl:text>, protocol </xsl:text><xsl:value-of select="@protocol"/>
      <xsl:text>, </xsl:text>
      <xsl:call-template name="count">
        <xsl:with-param name="of" select="@ranks"/><xsl:with-param name="one">rank</xsl:with-param>
      </xsl:call-template>
      <xsl:text> (</xsl:text><xsl:value-of select="@file"/><xsl:text>:</xsl:text>
      <xsl:value-of select="@line"/><xsl:text>). </xsl:text>
    </xsl:if>
    <xsl:if test="facts">
      <xsl:text>End: </xsl:text><xsl:value-of select="facts/@end"/>
      <xsl:text> after </xsl:text>
      <xsl:value-of select="facts/@incarnations"/><xsl:text> </xsl:text>
      <xsl:call-template name="term">
        <xsl:with-param name="id">incarnation</xsl:with-param>
        <xsl:with-param name="text">
          <xsl:text>incarnation</xsl:text><xsl:if test="facts/@incarnations != 1">s</xsl:if>
        </xsl:with-param>
      </xsl:call-template>
      <xsl:text>; </xsl:text>
      <xsl:call-template name="term">
        <xsl:with-param name="id">fault</xsl:with-param><xsl:with-param name="text">faults</xsl:with-param>
      </xsl:call-template>
      <xsl:text> asked for: </xsl:text>
      <xsl:value-of select="count(facts/step[@fault])"/>
      <xsl:text>, installed: </xsl:text>
      <xsl:value-of select="count(facts/step[@fault and @done])"/>
      <xsl:text>. </xsl:text>
    </xsl:if>
    <a href="#words">Words are explained below.</a>
  </xsl:template>

  <!-- pictures -->

  <xsl:template match="figure" mode="first">
    <figure id="{../@id}-{@name}">
      <figcaption>
        <xsl:choose>
          <xsl:when test="@name = 'brief' and event[@letter]">
            <strong>The witness</strong><xsl:text>, what began it, and what stands next to them: </xsl:text>
          </xsl:when>
          <xsl:when test="@name = 'brief'">
            <strong>The faults</strong><xsl:text> and what stands next to them: </xsl:text>
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

  <xsl:template match="diagram" mode="whole">
    <section aria-labelledby="{@id}-whole-heading">
      <h2 id="{@id}-whole-heading">The whole run</h2>
      <xsl:apply-templates select="overview"/>
      <xsl:apply-templates select="figure[2]" mode="second"/>
    </section>
  </xsl:template>

  <xsl:template match="overview">
    <figure id="{../@id}-overview">
      <figcaption>
        <xsl:text>By time, from </xsl:text><xsl:value-of select="../@total"/>
        <xsl:text> events: the darker, the more of them. </xsl:text>
        <span class="needs-script" hidden="hidden">Choose a stretch of it with the pointer or below: what is outside is taken out of the picture and the table that follow.</span>
      </figcaption>
      <div class="scroll" tabindex="0" role="region" aria-label="the run by time">
        <xsl:apply-templates select="." mode="svg"/>
      </div>
    </figure>
  </xsl:template>

  <xsl:template match="figure" mode="second">
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
    <xsl:if test="*[@faded]">; what did not happen before the witness is pale</xsl:if>
    <xsl:text>. </xsl:text>
    <xsl:if test="../@uncertain">Some messages could not be matched. </xsl:if>
  </xsl:template>

  <xsl:template name="legend">
    <p class="legend">
      <span><b>Messages:</b><xsl:text> solid line </xsl:text>
        <xsl:if test="arrow[@kind = 'intra']">
          <xsl:text>within an </xsl:text>
          <xsl:call-template name="term"><xsl:with-param name="id">epoch</xsl:with-param></xsl:call-template>
        </xsl:if>
      </span><xsl:text> </xsl:text>
      <xsl:call-template name="legend-of"><xsl:with-param name="kind">late</xsl:with-param><xsl:with-param name="id">late-message</xsl:with-param><xsl:with-param name="drawn">long dashes</xsl:with-param></xsl:call-template>
      <xsl:call-template name="legend-of"><xsl:with-param name="kind">early</xsl:with-param><xsl:with-param name="id">early-message</xsl:with-param><xsl:with-param name="drawn">dots</xsl:with-param></xsl:call-template>
      <xsl:call-template name="legend-of"><xsl:with-param name="kind">replayed</xsl:with-param><xsl:with-param name="drawn">dash and dot</xsl:with-param></xsl:call-template>
      <xsl:call-template name="legend-of"><xsl:with-param name="kind">suppressed</xsl:with-param><xsl:with-param name="drawn">wide dots</xsl:with-param></xsl:call-template>
      <xsl:call-template name="legend-of"><xsl:with-param name="kind">control</xsl:with-param><xsl:with-param name="id">control-message</xsl:with-param><xsl:with-param name="drawn">thin, hollow head</xsl:with-param></xsl:call-template>
      <xsl:if test="arrow[@anomaly]"><span>!: its order or its bytes are wrong</span><xsl:text> </xsl:text></xsl:if>
      <span><b>Events:</b> &#x25CF; send</span><xsl:text> </xsl:text><span>&#x25CB; delivery</span><xsl:text> </xsl:text>
      <xsl:if test="event[@shape = 'collective']"><span>&#x25A0; collective</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'checkpoint']"><span>&#x25C6; checkpoint</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'saved']"><span>&#x25C7; saved</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'commit']"><span>&#x2605; commit</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'restored']"><span>&#x21BA; restored</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'stop']"><span>&#x2016; stop-log: the rank stops logging</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'kill']"><span>&#x2717; kill</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'hold']"><span>two bars in a box: held or stopped</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'release']"><span>&#x25B7; let go</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'fault']"><span>&#x25B3; another fault</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'note']"><span>&#x25A1; note of the protocol or program</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@shape = 'storage']"><span>&#x25AB; file</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@letter]"><span>ring and letter: the witness</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="event[@open]"><span>thick dashes: the call had not returned</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="life[@open]"><span>&#x2026; at the end of a line: still running when the run was ended</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="life/@died"><span>&#xD7; at the end of a line: the process died</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="news[@kind = 'taken-over']"><span>thick line: takes the dead one's rank over</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="news[@kind = 'learned']"><span>dots: learns of the death</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="news[@kind = 'revoked']"><span>wave: a communicator is revoked</span><xsl:text> </xsl:text></xsl:if>
      <xsl:if test="life/gap"><span>dotted line: events left out</span><xsl:text> </xsl:text></xsl:if>
    </p>
  </xsl:template>

  <xsl:template name="legend-of">
    <xsl:param name="kind"/>
    <xsl:param name="id" select="$kind"/>
    <xsl:param name="drawn"/>
    <xsl:if test="arrow[@kind = $kind]">
      <span class="{$kind}">
        <xsl:value-of select="$drawn"/><xsl:text>: </xsl:text>
        <xsl:call-template name="term">
          <xsl:with-param name="id" select="$id"/><xsl:with-param name="text" select="$kind"/>
        </xsl:call-template>
      </span>
      <xsl:text> </xsl:text>
    </xsl:if>
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
    <tr id="{@id}" data-at="{@exactly}" data-rank="{@rank}" data-kind="{@kind}" data-comm="{@comm}" data-level="{@level}">
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
      <h2 id="run-heading">The plan, and how the ranks ended</h2>
      <p>
        <xsl:value-of select="concat(@end, ' after ', @seconds, ' s: ', @end-text, '; seed ', @seed)"/>
        <xsl:if test="@reference"><xsl:text>; compared with </xsl:text><xsl:value-of select="@reference"/></xsl:if>
        <xsl:text>.</xsl:text>
      </p>
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
                <th scope="col"><xsl:call-template name="term"><xsl:with-param name="id">claim</xsl:with-param></xsl:call-template></th>
                <th scope="col"><xsl:call-template name="term"><xsl:with-param name="id">verdict</xsl:with-param></xsl:call-template></th>
                <th scope="col" class="number"><xsl:call-template name="term"><xsl:with-param name="id">situation</xsl:with-param><xsl:with-param name="text">situations</xsl:with-param></xsl:call-template></th><th scope="col" class="number">violations</th>
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
