/** Reads a value that a hostile or restricted page may deny; undefined if reading throws. */
export function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Wraps a function of ours that the page calls. Errors are swallowed, because the tracker must never break the page. */
export function guard<Arguments extends unknown[]>(run: (...args: Arguments) => unknown): (...args: Arguments) => void {
  return (...args) => void attempt(() => run(...args))
}

/** Listens in the capture phase, so that stopPropagation hides nothing. */
export function on(target: EventTarget, types: string, listener: (event: Event) => unknown): void {
  listenTo(target, types, guard(listener))
}

/** Adds a listener that is already guarded. Adding the same function twice has no effect. */
export function listenTo(target: EventTarget, types: string, guarded: (event: Event) => void): void {
  for (const type of types.split(' ')) target.addEventListener(type, guarded, true)
}

export function later(run: () => unknown, milliseconds: number): void {
  setTimeout(guard(run), milliseconds)
}
