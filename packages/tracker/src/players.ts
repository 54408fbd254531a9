import { later, on } from './guard.ts'
import { redact } from './text.ts'

/** Of a `<video>` and of Vimeo alike. */
export const MEDIA_EVENTS = 'play pause ended timeupdate'

/** The current state of a video. */
export interface Playback {
  provider: string
  video_url: string
  video_title: string | undefined
  duration: number
  position: number
}

/** Reports a media event by its name or YouTube's state number; anything else is only progress. */
export type Report = (element: Element, event: string | number | undefined, playback: Playback) => void

/** A message from a player: YouTube sends `info`, Vimeo `data`. */
interface Message {
  event?: string
  info?: Details | number
  data?: Details
}

interface Details {
  playerState?: number
  currentTime?: number
  seconds?: number
  duration?: number
  videoData?: { title?: string }
}

const ORIGIN = /^https:\/\/(www\.youtube(-nocookie)?|player\.vimeo)\.com/
/** When to greet a player, which may not listen at once; greeting twice is harmless. */
const GREETINGS_MS = [0, 2_000]

const players = new WeakMap<Element, Playback>()

/** The last known state of a player in an iframe. */
export function playerOf(element: Element): Playback | undefined {
  return players.get(element)
}

/**
 * Listens to the page's YouTube and Vimeo players through their messaging protocols, without loading their scripts.
 * (YouTube players only respond if embedded with `enablejsapi=1`.)
 */
export function watchPlayers(report: Report): void {
  on(window, 'message', (event: MessageEvent) => onMessage(event, report))
  const greetAll = () => {
    for (const delay of GREETINGS_MS) later(() => eachFrame(greet), delay)
  }
  // Load events of iframes reach the document, but not the window.
  on(document, 'load', (event) => (event.target as Element).localName === 'iframe' && greetAll())
  greetAll()
}

function eachFrame(act: (frame: HTMLIFrameElement) => void): void {
  for (const frame of document.getElementsByTagName('iframe')) act(frame)
}

function greet(frame: HTMLIFrameElement): void {
  ask(frame, isVimeo(frame.src) ? '{"method":"ping"}' : '{"event":"listening","id":1,"channel":"widget"}')
}

/** Posts to players only: a message to another origin would log an error in the console. */
function ask(frame: HTMLIFrameElement, message: string): void {
  const [origin] = ORIGIN.exec(frame.src) ?? []
  if (origin) frame.contentWindow?.postMessage(message, origin)
}

function isVimeo(url: string): boolean {
  return url[8] === 'p'
}

function onMessage({ origin, source, data: sent }: MessageEvent, report: Report): void {
  if (!ORIGIN.test(origin)) return
  const { event, info, data }: Message = typeof sent === 'string' ? JSON.parse(sent) : sent
  eachFrame((frame) => {
    if (frame.contentWindow !== source) return
    let playback = players.get(frame)
    if (!playback) {
      playback = {
        provider: isVimeo(origin) ? 'vimeo' : 'youtube',
        video_url: redact(frame.src),
        video_title: frame.title,
        duration: 0,
        position: 0,
      }
      players.set(frame, playback)
      if (isVimeo(origin)) {
        for (const name of MEDIA_EVENTS.split(' ')) ask(frame, `{"method":"addEventListener","value":"${name}"}`)
      }
    }
    const details: Details = (info as Details) ?? data ?? {}
    playback.position = details.currentTime ?? details.seconds ?? playback.position
    playback.duration = details.duration ?? playback.duration
    playback.video_title = details.videoData?.title ?? playback.video_title
    report(frame, details.playerState ?? (typeof info === 'number' ? info : event), playback)
  })
}
