import { attempt } from './guard.ts'
import { configure, type Options } from './options.ts'
import { installQueue } from './tracker.ts'

/** The first URL in a stack: this script's, unless another script evaluated it. */
const OWN_URL = /http\S+?(?=:\d+:\d)/
/** The URLs of the script by its names at the service; inserted when it is bundled. */
declare const SCRIPT: RegExp
// Entry point of the script tag. Its attributes are the options, and the global queue `service` has the commands.
attempt(() => {
  const global = window as unknown as { service?: unknown[] & { optOut?: unknown } }
  if (global.service?.optOut) return
  // Modules, shadow roots and some loaders of scripts leave no current script.
  const url = attempt(() => OWN_URL.exec(new Error().stack as string)?.[0])
  const tag = attempt(
    () => [...document.scripts].find(({ src }) => src === url) ?? (document.currentScript as HTMLScriptElement | null),
  )
  configure(tag?.dataset as Options | undefined)
  if (!Array.isArray(global.service)) global.service = []
  // Under another name, the code may be part of a bundle, whose host is not the service's.
  const src = (tag?.src || url) as string
  installQueue(global.service as unknown[], SCRIPT.test(src) ? src : '')
})
