import { configure, type Options } from './options.ts'
import { installQueue, type Service } from './tracker.ts'

export type { Options, TrackedEvent } from './options.ts'
export type { Command, Proof, Service } from './tracker.ts'

let service: Service | undefined

/**
 * Starts the tracker, for sites that bundle it. A second call only changes options.
 * @param options must include `collect`, the URL of the service's /track.
 */
export function init(options: Options & { collect: string }): Service {
  configure(options)
  if (!service) {
    const queue: unknown[] = []
    installQueue(queue, '')
    service = queue as unknown as Service
  }
  return service
}
