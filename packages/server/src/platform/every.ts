/** Work that repeats until it is stopped. */
export interface Repeated {
  /** Stops repeating and waits for the current round. */
  stop(): Promise<void>
}

/**
 * Processes items in sequence; a failure of one does not affect the others.
 * @returns the errors, in the same order.
 */
export async function eachAlone<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<unknown[]> {
  const failures: unknown[] = []
  for (const item of items) await work(item).catch((error) => failures.push(error))
  return failures
}

/** Repeats `work` with a pause between the end of one round and the start of the next. It must not reject. */
export function every(pauseMs: number, work: () => Promise<void>): Repeated {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  const schedule = () => {
    timer = setTimeout(() => {
      running = work().finally(() => {
        if (!stopped) schedule()
      })
    }, pauseMs)
    timer.unref()
  }
  schedule()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** Cleanup steps, run latest first. */
export type Cleanup = (() => Promise<unknown>)[]

/** Runs all cleanup steps, once. If a step fails, the others still run: a database must not be left running. */
export async function undoAll(cleanup: Cleanup): Promise<void> {
  const [failure] = await eachAlone(cleanup.splice(0).reverse(), async (undo) => {
    await undo()
  })
  if (failure !== undefined) throw failure
}
