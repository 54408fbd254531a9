/** An event as passed to `beforeSend`; what it returns is sent. */
export interface TrackedEvent {
  event_id: string
  event: string
  timestamp: string
  url: string
  title: string
  referrer?: string
  /** An email address that identifies the visitor, as a form does. It is not stored with the event. */
  lead?: string
  data: Record<string, unknown>
}

/** Every option may be a text, because each can be a `data-` attribute of the script tag (`data-cookie-domain`). */
export interface Options {
  /** URL for events; default: `track` beside the script. Visitor recovery uses `recover-visitor` beside it. */
  collect?: string
  /** `required`: nothing is stored or sent before `consent` is given. */
  consent?: 'required'
  /** `off`: Global Privacy Control is ignored. */
  gpc?: 'on' | 'off'
  /** `on`: the browser's Do Not Track is honored. */
  dnt?: 'on' | 'off'
  /** `off`: a visitor without a cookie is a new visitor. */
  fingerprint?: 'on' | 'off'
  /** Names of more URL parameters to redact, as a regular expression: `coupon|order`. */
  redact?: string
  /** Names of events not to capture, separated by spaces. */
  exclude?: string
  /** `on`: an email address entered in a video identifies the visitor. */
  videoLeads?: 'on' | 'off'
  /** Domain of the visitor cookie, to share it among subdomains: `example.com`. */
  cookieDomain?: string
  /** The visitor's id in another analytics tool; stored with each event. */
  analyticsUserId?: string
  /** Receives each event and returns it, changed or not, or null to drop it. As a text: the name of a global function. */
  beforeSend?: string | ((event: TrackedEvent) => TrackedEvent | null | undefined)
}

export const options: Options = {}

export function configure(more: Options | undefined): void {
  Object.assign(options, more)
}
