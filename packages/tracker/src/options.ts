/** An event as `beforeSend` sees it; what it returns is sent. */
export interface TrackedEvent {
  event_id: string
  event: string
  timestamp: string
  url: string
  title: string
  referrer?: string
  data: Record<string, unknown>
}

/** Every option is a text, because each may stand in a `data-` attribute of the script tag (`data-cookie-domain`). */
export interface Options {
  /** Where events go; default: beside the script. Fingerprint recovery goes to `recover-visitor` beside it. */
  collect?: string
  /** `required`: nothing is stored or sent before `consent` is given. */
  consent?: 'required'
  /** `off`: visitors who send Global Privacy Control are tracked all the same. */
  gpc?: 'on' | 'off'
  /** `on`: the browser's Do Not Track is honoured. */
  dnt?: 'on' | 'off'
  /** `off`: a visitor whose cookie is gone is a new visitor. */
  fingerprint?: 'on' | 'off'
  /** Names of URL parameters to redact beside the built-in ones, as a regular expression: `coupon|order`. */
  redact?: string
  /** Names of events not to capture, separated by spaces. */
  exclude?: string
  /** Domain of the visitor cookie, to share it among subdomains: `example.com`. */
  cookieDomain?: string
  /** What another analytics tool calls this visitor; stored with each event. */
  analyticsUserId?: string
  /** Sees each event first: return it, changed or not, or null to drop it. As a text: the name of a global function. */
  beforeSend?: string | ((event: TrackedEvent) => TrackedEvent | null | undefined)
}

export const options: Options = {}

export function configure(more: Options): void {
  Object.assign(options, more)
}
