const REPORT_EVERY_MS = 2_000

/** Prints how far long work is on a terminal. The result of a command goes to the standard output. */
export function say(message: string): void {
  console.error(`· ${message}`)
}

/** Passes on a message at most every two seconds, for the progress of long work on a terminal. */
export function throttled(report: (message: string) => void): (message: string) => void {
  let reportedAt = performance.now()
  return (message) => {
    const now = performance.now()
    if (now - reportedAt < REPORT_EVERY_MS) return
    reportedAt = now
    report(message)
  }
}

/** A number for readers, with separators: 12,345. */
export function separated(value: number): string {
  return value.toLocaleString('en-US')
}
