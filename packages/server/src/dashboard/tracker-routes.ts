import Type from 'typebox'
import type { Config } from '../config.ts'
import { firstAndLastEvent } from '../events/first-and-last.ts'
import type { App } from '../platform/http/app-types.ts'
import { Nullable, success, Timestamp } from '../platform/http/responses.ts'
import { VIEWER } from './access.ts'

const Seen = Nullable(Type.Object({ timestamp: Timestamp, url: Nullable(Type.String()) }))

export interface TrackerDependencies {
  config: Pick<Config, 'publicUrl' | 'trackerScriptPath' | 'trackerCollectPath'>
}

/** What to put into a site's pages, and whether an event has come of it. */
export function trackerRoutes(app: App, { config }: TrackerDependencies): void {
  const { publicUrl, trackerScriptPath, trackerCollectPath } = config
  const scriptUrl = `${publicUrl}${trackerScriptPath}`
  app.get(
    '/api/tracker',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        response: {
          200: success({
            snippet: Type.String(),
            script_url: Type.String(),
            collect_url: Type.String(),
            first_event: Seen,
            last_event: Seen,
          }),
        },
      },
    },
    async ({ tenant }) => {
      const { first, last } = await firstAndLastEvent(tenant)
      return {
        status: 'success' as const,
        // The script is built with the path that events go to.
        snippet: `<script async src="${escapeAttribute(scriptUrl)}"></script>`,
        script_url: scriptUrl,
        collect_url: `${publicUrl}${trackerCollectPath}`,
        first_event: first,
        last_event: last,
      }
    },
  )
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
