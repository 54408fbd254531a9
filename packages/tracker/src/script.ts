import { guard } from './guard.ts'
import { configure } from './options.ts'
import { takeOver } from './tracker.ts'

/** Where events go, seen from the script's own address; the service puts it in. */
declare const COLLECT: string

// What a page includes with one tag: its options stand in the tag, its commands in the global queue `service`.
guard(() => {
  const global = window as unknown as { service?: unknown[] & { optOut?: unknown } }
  const tag = document.currentScript as HTMLScriptElement | null
  if (global.service?.optOut) return
  configure({ ...tag?.dataset })
  const queue = Array.isArray(global.service) ? global.service : []
  global.service = queue
  takeOver(queue, tag?.src ?? '', COLLECT)
})()
