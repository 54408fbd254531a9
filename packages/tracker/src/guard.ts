/** Reads a value that a hostile or restricted page may deny; undefined if reading throws. */
export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {}
}

/** Wraps a function of ours that the page calls. Errors are swallowed, because the tracker must never break the page. */
export function guard<Arguments extends unknown[]>(run: (...args: Arguments) => unknown): (...args: Arguments) => void {
  return (...args) => void attempt(() => run(...args))
}

const LINE_MAX = 200
const TOLD_MAX = 1_000
const told = new Set<string>()

/** Tells the site's developers in the console what to change, each thing once and at most 1,000 things. @returns '' */
export function warn(text: string): string {
  const line = `service: ${text}`.slice(0, LINE_MAX)
  const { size } = told
  if (size < TOLD_MAX && told.add(line).size > size) attempt(() => console.warn(line))
  return ''
}

/** Listens in the capture phase, so that stopPropagation hides nothing. */
export function on<Heard extends Event>(
  target: EventTarget,
  types: string,
  listener: (event: Heard) => unknown,
  guarded = guard(listener),
): void {
  for (const type of types.split(' ')) target.addEventListener(type, guarded as EventListener, true)
}

export function later(run: () => unknown, milliseconds: number): unknown {
  return setTimeout(guard(run), milliseconds)
}
