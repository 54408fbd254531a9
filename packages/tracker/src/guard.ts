/** The value of a look that a hostile or restricted page may refuse. */
export function attempt<Value>(look: () => Value): Value | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}

/** A function of ours that the page may call: what it throws is swallowed, because the page comes first. */
export function guard<Arguments extends unknown[]>(run: (...args: Arguments) => unknown): (...args: Arguments) => void {
  return (...args) => void attempt(() => run(...args))
}

/** Listens before the page's own listeners, so that stopPropagation hides nothing. */
export function on(target: EventTarget, types: string, listener: (event: Event) => unknown): void {
  listenTo(target, types, guard(listener))
}

/** Listens with a function that is guarded already: the same one twice listens once. */
export function listenTo(target: EventTarget, types: string, guarded: (event: Event) => void): void {
  for (const type of types.split(' ')) target.addEventListener(type, guarded, true)
}

export function later(run: () => unknown, milliseconds: number): void {
  setTimeout(guard(run), milliseconds)
}
