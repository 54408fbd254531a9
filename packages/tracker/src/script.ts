import { attempt, guard } from './guard.ts'
import { configure, type Options } from './options.ts'
import { installQueue } from './tracker.ts'

/** The URL in the first line of a stack: this script's, unless another script evaluated it. */
const OWN_URL = /^(?:Error\n)?.*?(http\S+?):\d+:\d+\)?\n/
// Entry point of the script tag. Its attributes are the options, and the global queue `service` has the commands.
guard(() => {
  const global = window as unknown as { service?: unknown[] & { optOut?: unknown } }
  if (global.service?.optOut) return
  const { currentScript, scripts } = document
  // Modules, shadow roots and some loaders of scripts leave no current script.
  const [, url = ''] = attempt(() => OWN_URL.exec(`${new Error().stack}`)) ?? []
  const tag = [...scripts].find(({ src }) => src === url) ?? (currentScript as HTMLScriptElement | null)
  configure(tag?.dataset as Options | undefined)
  const queue = Array.isArray(global.service) ? global.service : []
  global.service = queue
  // Without a tag, code of the page's own host may be a bundle or an inline script.
  installQueue(queue, tag?.src || (url.startsWith(`${location.origin}/`) ? '' : url))
})()
