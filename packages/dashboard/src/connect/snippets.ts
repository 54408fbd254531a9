import type { KindName } from './kinds.ts'
import { text } from './text.ts'

/** What the code of a guide contains besides itself. */
export interface Filling {
  /** Where the API is: `https://cdp.example.com`. */
  origin: string
  /** The URL of the tracker's script. */
  scriptUrl: string
  tenantId: string
  apiKey: string
}

export interface Snippet {
  /** Its name in the guide: a block of `docs/` that begins with ```` ```js from=KIND/ID ```` has its code. */
  id: string
  /** The name of the file or the place for the code. */
  title: string
  code: string
}

/** Placeholder until a key is created. */
export const NO_KEY = 'YOUR_API_KEY'
/** Placeholder for the key of a source, which is shown where the source is created. */
const NO_WRITE_KEY = 'YOUR_WRITE_KEY'

const websiteSnippets = ({ scriptUrl, origin, tenantId }: Filling): Snippet[] => [
  { id: 'script', title: text.code.website, code: `<script async src="${scriptUrl}"></script>` },
  {
    id: 'identify',
    title: text.code.identify,
    code: `<script>
  window.service = window.service || []
  service.push(['identify', 'user-42', { email: 'ada@example.com', plan: 'pro' }])
</script>`,
  },
  {
    id: 'sign-out',
    title: text.code.signOut,
    code: `<script>
  window.service = window.service || []
  service.push(['reset'])
</script>`,
  },
  {
    id: 'custom',
    title: text.code.custom,
    code: `<script>
  window.service = window.service || []
  service.push(['track', 'trial_started', { seats: 5 }])
</script>`,
  },
  {
    id: 'form',
    title: text.code.form,
    code: `<form id="contact">
  <input name="email" type="email" required />
  <input name="firstname" />
  <button>Send</button>
</form>
<script>
  document.getElementById('contact').addEventListener('submit', async (event) => {
    event.preventDefault()
    const contact_data = Object.fromEntries(new FormData(event.target))
    await fetch('${origin}/v1/public/form-submission/${tenantId}/contact', {
      method: 'POST',
      credentials: 'include',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ contact_data }),
    })
  })
</script>`,
  },
]

const nextSnippets = ({ scriptUrl }: Filling): Snippet[] => [
  {
    id: 'layout',
    title: text.code.layout,
    code: `import Script from 'next/script'

export default function RootLayout({ children }: { children: React.ReactNode }) {
  return (
    <html lang="en">
      <body>
        {children}
        <Script src="${scriptUrl}" strategy="afterInteractive" />
      </body>
    </html>
  )
}`,
  },
  {
    id: 'identify',
    title: text.code.identifyComponent,
    code: `'use client'
import { useEffect } from 'react'

declare global {
  interface Window {
    service?: { push(command: unknown[]): void }
  }
}

export function Identify({ id, email }: { id: string; email: string }) {
  useEffect(() => {
    window.service ??= [] as unknown[] as NonNullable<Window['service']>
    window.service.push(['identify', id, { email }])
  }, [id, email])
  return null
}`,
  },
]

const wordpressSnippets = ({ scriptUrl }: Filling): Snippet[] => [
  {
    id: 'theme',
    title: text.code.theme,
    code: `add_action('wp_head', function () {
  echo '<script async src="${scriptUrl}"></script>';
});`,
  },
  {
    id: 'users',
    title: text.code.themeUsers,
    code: `add_action('wp_footer', function () {
  if (!is_user_logged_in()) return;
  $user = wp_get_current_user();
  $command = wp_json_encode(['identify', (string) $user->ID, ['email' => $user->user_email]], JSON_HEX_TAG);
  echo "<script>(window.service = window.service || []).push($command)</script>";
});`,
  },
]

const nodeSnippets = ({ origin, apiKey }: Filling): Snippet[] => [
  {
    id: 'identify',
    title: text.code.node,
    code: `const response = await fetch('${origin}/v1/identify', {
  method: 'POST',
  headers: { authorization: 'Bearer ${apiKey}', 'content-type': 'application/json' },
  body: JSON.stringify({ user_id: 'user-42', email: 'ada@example.com', properties: { plan: 'pro' } }),
})
if (!response.ok) throw new Error(await response.text())
console.log(await response.json())`,
  },
  {
    id: 'event',
    title: text.code.nodeEvent,
    code: `const response = await fetch('${origin}/v1/events', {
  method: 'POST',
  headers: { authorization: 'Bearer ${apiKey}', 'content-type': 'application/json' },
  body: JSON.stringify({
    events: [{ event: 'order_paid', event_id: crypto.randomUUID(), user_id: 'user-42', data: { amount: 49.9 } }],
  }),
})
if (!response.ok) throw new Error(await response.text())
console.log(await response.json())`,
  },
]

const pythonSnippets = ({ origin, apiKey }: Filling): Snippet[] => [
  {
    id: 'identify',
    title: text.code.python,
    code: `import json
import urllib.request

request = urllib.request.Request(
    "${origin}/v1/identify",
    data=json.dumps({"user_id": "user-42", "email": "ada@example.com", "properties": {"plan": "pro"}}).encode(),
    headers={"Authorization": "Bearer ${apiKey}", "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))`,
  },
  {
    id: 'event',
    title: text.code.pythonEvent,
    code: `import json
import urllib.request
import uuid

event = {"event": "order_paid", "event_id": str(uuid.uuid4()), "user_id": "user-42", "data": {"amount": 49.9}}
request = urllib.request.Request(
    "${origin}/v1/events",
    data=json.dumps({"events": [event]}).encode(),
    headers={"Authorization": "Bearer ${apiKey}", "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))`,
  },
]

const segmentSnippets = ({ origin }: Filling): Snippet[] => [
  {
    id: 'segment-node',
    title: text.code.segmentNode,
    code: `import { Analytics } from '@segment/analytics-node'

const analytics = new Analytics({ writeKey: '${NO_WRITE_KEY}', host: '${origin}' })`,
  },
  {
    id: 'segment-browser',
    title: text.code.segmentBrowser,
    code: `import { AnalyticsBrowser } from '@segment/analytics-next'

const analytics = AnalyticsBrowser.load({ writeKey: '${NO_WRITE_KEY}', cdnURL: '${origin}' })`,
  },
  {
    id: 'rudder-node',
    title: text.code.rudderNode,
    code: `import RudderAnalytics from '@rudderstack/rudder-sdk-node'

const analytics = new RudderAnalytics('${NO_WRITE_KEY}', { dataPlaneUrl: '${origin}' })`,
  },
  {
    id: 'rudder-browser',
    title: text.code.rudderBrowser,
    code: `import { RudderAnalytics } from '@rudderstack/analytics-js/bundled'

const analytics = new RudderAnalytics()
analytics.load('${NO_WRITE_KEY}', '${origin}', { configUrl: '${origin}' })`,
  },
]

const hubspotSnippets = ({ origin, apiKey }: Filling): Snippet[] => [
  {
    id: 'push',
    title: text.code.hubspot,
    code: `curl ${origin}/v1/sources/hubspot/contacts -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '{
  "records": [
    {"external_id": "101", "email": "ada@example.com", "properties": {"firstname": "Ada", "lifecyclestage": "customer"}}
  ]
}'`,
  },
]

const mcpSnippets = ({ origin, apiKey }: Filling): Snippet[] => {
  const server = { url: `${origin}/mcp`, headers: { Authorization: `Bearer ${apiKey}` } }
  const program = {
    command: '/path/to/customer-data-service/node_modules/.bin/cdsctl',
    args: ['mcp', '--url', origin],
    env: { CDS_KEY: apiKey },
  }
  return [
    { id: 'url', title: text.code.mcpUrl, code: server.url },
    {
      id: 'claude-code',
      title: text.code.claudeCode,
      code: `claude mcp add --transport http customer-data ${server.url} --header "Authorization: Bearer ${apiKey}"`,
    },
    { id: 'cursor', title: text.code.cursor, code: settingsFile({ mcpServers: { 'customer-data': server } }) },
    {
      id: 'vscode',
      title: text.code.vscode,
      code: settingsFile({ servers: { 'customer-data': { type: 'http', ...server } } }),
    },
    { id: 'stdio', title: text.code.stdio, code: settingsFile({ mcpServers: { 'customer-data': program } }) },
  ]
}

/** JSON with its lists on one line, as people write them. */
function settingsFile(settings: object): string {
  const json = JSON.stringify(settings, null, 2)
  return json.replace(/\[\s+([^\]]*?)\s+\]/g, (_, items: string) => `[${items.replace(/\s+/g, ' ')}]`)
}

/** The code of each guide. */
export const SNIPPETS: Record<KindName, (filling: Filling) => Snippet[]> = {
  website: websiteSnippets,
  nextjs: nextSnippets,
  wordpress: wordpressSnippets,
  node: nodeSnippets,
  python: pythonSnippets,
  segment: segmentSnippets,
  hubspot: hubspotSnippets,
  systems: () => [],
  mailbox: () => [],
  webhooks: () => [],
  mcp: mcpSnippets,
}
