import { capture } from './capture.ts'
import { describe, isUnder } from './dom.ts'
import { options } from './options.ts'
import { type Playback, playerOf, type Report, watchPlayers } from './players.ts'
import { ADDRESS, cut, redact } from './text.ts'

const CHANGES: Record<string, string> = {
  play: 'play',
  pause: 'pause',
  ended: 'complete',
  0: 'complete',
  1: 'play',
  2: 'pause',
}
const MILESTONE = 25

const CAPTURE = 'data-service-capture'

/** A `<video>`, or Wistia's element, which has most of its properties. */
interface Player extends HTMLVideoElement {
  mediaId?: string
}

interface Progress {
  url: string
  last: string
  reached: number
}

const progress = new WeakMap<Element, Progress>()

export function watchVideos(): void {
  watchPlayers(report)
}

export function onMedia({ type, target, detail }: Event & { detail: { email: string } }): void {
  const player = target as Player
  // Only Wistia's event has details: what was entered in the form of its element.
  if (detail) captureConversion(player, player, detail.email)
  // Browsers also fire pause at the end, which counts as completion only.
  else if (player.localName === 'video' && (type !== 'pause' || !player.ended)) report(player, type, stateOf(player))
}

function stateOf(player: Player): Playback {
  return {
    provider: player.mediaId ? 'wistia' : 'html5',
    video_url: redact(player.mediaId || player.currentSrc),
    video_title: player.title,
    duration: player.duration,
    position: player.currentTime,
  }
}

/** Records changes of the playback, and each milestone once per video. */
const report: Report = (element, event, playback) => {
  let known = progress.get(element)
  if (known?.url !== playback.video_url) {
    known = { url: playback.video_url, last: '', reached: 0 }
    progress.set(element, known)
  }
  const change = CHANGES[event as string]
  if (change && change !== known.last) {
    known.last = change
    captureVideo(change, element, playback)
  }
  const percent = change === 'complete' ? 100 : (playback.position / playback.duration) * 100
  while (known.reached < 100 && known.reached + MILESTONE <= percent) {
    known.reached += MILESTONE
    captureVideo('milestone', element, playback, { milestone: known.reached })
  }
}

function captureVideo(what: string, element: Element, playback: Playback, more: object = {}, lead?: object): void {
  if (isUnder(element)) return
  const tenths = (seconds: number) => Math.round(seconds * 10) / 10
  capture(
    `video_${what}`,
    {
      ...playback,
      ...describe(element),
      video_title: cut(playback.video_title),
      duration: tenths(playback.duration),
      position: tenths(playback.position),
      ...more,
    },
    lead,
  )
}

/** Records a conversion if the submitted form is shown over a video, as players show email forms. */
export function captureOverlay(form: Element, email: string, formId: string | undefined): void {
  const box = form.getBoundingClientRect()
  for (const element of (form.getRootNode() as Document).elementsFromPoint(
    box.x + box.width / 2,
    box.y + box.height / 2,
  )) {
    captureConversion(form, element, email, formId)
  }
}

/** The address stays in the page, unless the site says that it identifies the visitor. */
function captureConversion(form: Element, player: Element, email: string, formId?: string): void {
  const playback = 'currentTime' in player ? stateOf(player as Player) : playerOf(player)
  if (!playback || !ADDRESS.test(email)) return
  const isLead = options.videoLeads === 'on' || isUnder(form, CAPTURE) || isUnder(player, CAPTURE)
  captureVideo('conversion', player, playback, { formId }, isLead ? { lead: email } : {})
}
