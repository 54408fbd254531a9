/** Something that runs again and again until it is stopped. */
export interface Repeated {
  /** Ends the repetition and waits for the round under way. */
  stop(): Promise<void>
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
