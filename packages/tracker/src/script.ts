import { guard } from './guard.ts'
import { configure } from './options.ts'
import { installQueue } from './tracker.ts'

/** URL for events, relative to the script; inserted by the service when it bundles. */
declare const COLLECT: string

// Entry point of the script tag. Its attributes are the options, and the global queue `service` has the commands.
guard(() => {
  const global = window as unknown as { service?: unknown[] & { optOut?: unknown } }
  const tag = document.currentScript as HTMLScriptElement | null
  if (global.service?.optOut) return
  configure({ ...tag?.dataset })
  const queue = Array.isArray(global.service) ? global.service : []
  global.service = queue
  installQueue(queue, tag?.src ?? '', COLLECT)
})()
