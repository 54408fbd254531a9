/** The time zone of the workspace; until somebody has signed in, that of the browser. */
let zone: string | undefined

/** Called whenever the service says who is signed in, and to which workspace. */
export function setTimeZone(name: string | undefined): void {
  zone = name
}

/** Formats times in the time zone of the workspace. */
export function formatIn(options: Intl.DateTimeFormatOptions): (date: Date) => string {
  let made: { zone: string | undefined; format: Intl.DateTimeFormat } | undefined
  return (date) => {
    if (made === undefined || made.zone !== zone) made = { zone, format: formatOf(options) }
    return made.format.format(date)
  }
}

function formatOf(options: Intl.DateTimeFormatOptions, locale?: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, { ...options, timeZone: zone })
  } catch {
    // The browser is older than the zone's name.
    return new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
  }
}

/** The day of a moment in the time zone of the workspace: `2026-01-31`. */
export function localDay(moment: Date): string {
  const parts = formatOf({ year: 'numeric', month: '2-digit', day: '2-digit' }, 'en-u-ca-iso8601').formatToParts(moment)
  const part = (name: string) => parts.find(({ type }) => type === name)?.value ?? ''
  return `${part('year')}-${part('month')}-${part('day')}`
}

/** The zone of the browser, which a new workspace begins with. */
export function browserTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
}

/** The names of all zones that the browser knows. */
export const TIME_ZONES: readonly string[] = [
  'UTC',
  ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC'),
]
