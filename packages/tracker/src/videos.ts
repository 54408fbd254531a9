import { capture } from './capture.ts'
import { describe, isIgnored } from './dom.ts'
import { type Playback, playerOf, type Report, watchPlayers } from './players.ts'
import { cut, redact } from './text.ts'

const CHANGES: Record<string, string> = {
  play: 'play',
  pause: 'pause',
  ended: 'complete',
  0: 'complete',
  1: 'play',
  2: 'pause',
}
const MILESTONE = 25

interface Progress {
  url: string
  last: string
  reached: number
}

const progress = new WeakMap<Element, Progress>()

export function watchVideos(): void {
  watchPlayers(report)
}

export function onMedia({ type, target }: Event): void {
  const video = target as HTMLVideoElement
  // Browsers also fire pause at the end, which counts as completion only.
  if (video.localName === 'video' && (type !== 'pause' || !video.ended)) report(video, type, html5(video))
}

function html5(video: HTMLVideoElement): Playback {
  return {
    provider: 'html5',
    video_url: redact(video.currentSrc),
    video_title: video.title,
    duration: video.duration,
    position: video.currentTime,
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

function captureVideo(what: string, element: Element, playback: Playback, more: object = {}): void {
  if (isIgnored(element)) return
  const tenths = (seconds: number) => Math.round(seconds * 10) / 10
  capture(`video_${what}`, {
    ...playback,
    ...describe(element),
    video_title: cut(playback.video_title),
    duration: tenths(playback.duration),
    position: tenths(playback.position),
    ...more,
  })
}

/** Records a conversion if the submitted form is shown over a video, as players show email forms. */
export function captureConversion(form: Element, formId: string | undefined): void {
  const box = form.getBoundingClientRect()
  for (const element of (form.getRootNode() as Document).elementsFromPoint(
    box.left + box.width / 2,
    box.top + box.height / 2,
  )) {
    const playback = element.localName === 'video' ? html5(element as HTMLVideoElement) : playerOf(element)
    if (playback) captureVideo('conversion', element, playback, { formId })
  }
}
