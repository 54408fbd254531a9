import { formatNumber } from '../ui/format.ts'
import type { KindName } from './kinds.ts'

const kinds: Record<KindName, { title: string; description: string; steps: string }> = {
  website: {
    title: 'Website',
    description: 'One script records visits, clicks and forms.',
    steps: 'Paste the script once into the head of every page. It sets no third-party cookies.',
  },
  nextjs: {
    title: 'Next.js',
    description: 'The tracker in your root layout.',
    steps: 'Load the tracker in the root layout. It follows client-side navigation by itself.',
  },
  wordpress: {
    title: 'WordPress',
    description: 'The tracker in your theme.',
    steps: 'Add the script to the head of your theme, by code or with a plugin for header scripts.',
  },
  node: {
    title: 'Node',
    description: 'Contacts and events from your server.',
    steps: 'Create a key, save the code as files and run them. The contact and its event appear at once.',
  },
  python: {
    title: 'Python',
    description: 'Contacts and events from your server.',
    steps: 'Create a key, save the code as files and run them. The contact and its event appear at once.',
  },
  segment: {
    title: 'Segment or RudderStack',
    description: 'Keep their SDKs and your calls: change one URL.',
    steps:
      'Create a source and copy its write key: a server source for your backend, a browser source for your website. Then change the URL and the key where you load the SDK.',
  },
  hubspot: {
    title: 'HubSpot',
    description: 'Import an export, or send changes through the API.',
    steps:
      'Export your contacts from HubSpot as CSV and import the file. To keep both in step, send changed contacts with a key.',
  },
  systems: {
    title: 'Systems you use',
    description: 'Your CRM, product analytics or help desk, pulled every few minutes.',
    steps:
      'Choose a system, then sign in or enter an API token. Its contacts, companies, events and conversations are imported and kept up to date.',
  },
  mailbox: {
    title: 'Mailbox',
    description: 'Send as a member of your team, and keep replies with the contact.',
    steps: 'A mailbox belongs to a sender, in whose name your agents write. Create one and connect its mailbox.',
  },
  webhooks: {
    title: 'Webhooks',
    description: 'Signed requests to your systems when something happens.',
    steps: 'Choose an event and a URL. Every request is signed, and repeated until your system accepts it.',
  },
  mcp: {
    title: 'AI agents',
    description: 'Claude, ChatGPT, Cursor and others read your data over MCP.',
    steps:
      'Clients that support OAuth need only the URL: they open a page where you choose what they may do. For others, create a key. Personal data is hidden from them.',
  },
}

export const text = {
  kinds,
  back: 'Integrations',
  /** Where each piece of code goes. */
  code: {
    website: 'In the head of every page',
    identify: 'When a visitor signs in or leaves an email address',
    signOut: 'When a person signs out',
    custom: 'Custom events',
    form: 'Your own form',
    layout: 'app/layout.tsx',
    identifyComponent: 'app/identify.tsx: render it where you know who is signed in',
    theme: "functions.php of your (child) theme, or a plugin that adds code to the site's head",
    themeUsers: 'functions.php: identify visitors who are signed in',
    node: 'identify.mjs: needs Node 18 or later, and no package',
    nodeEvent: 'event.mjs: send up to 500 events a request',
    python: 'identify.py: needs Python 3, and no package',
    pythonEvent: 'event.py: send up to 500 events a request',
    segmentNode: 'Segment, on a server',
    segmentBrowser: 'Segment, on a website whose domain is verified',
    rudderNode: 'RudderStack, on a server',
    rudderBrowser: 'RudderStack, on a website whose domain is verified',
    hubspot: 'Or keep both in step: send changed contacts as records of the source hubspot',
    mcpUrl: 'URL for clients with a sign-in, such as Claude and ChatGPT',
    claudeCode: 'Claude Code, with a key',
    cursor: '.cursor/mcp.json: Cursor, with a key',
    vscode: '.vscode/mcp.json: VS Code, with a key',
    stdio: 'claude_desktop_config.json: Claude Desktop, with a key. Replace /path/to.',
  },
  light: {
    waiting: 'Waiting…',
    notYet: 'Not connected',
    connected: 'Connected',
    last: (ago: string) => `Connected, last seen ${ago}`,
  },
  key: {
    create: 'Create key',
    created: 'The key is in the code below. Copy it now: it is not shown again.',
    explain: (scopes: readonly string[]) =>
      `Creates an API key that can only do what this code needs: ${scopes.join(', ')}.`,
    explainAgent: 'It works only over MCP, and personal data is hidden.',
    adminsOnly: 'Only admins can create keys. Ask one of them, or replace YOUR_API_KEY with a key you have.',
  },
  refused: {
    tried: (host: string) => `A page on ${host} tried to send events.`,
    ask: 'Add this domain?',
    adminsOnly: 'Ask an admin of your workspace to add this domain.',
    add: 'Add domain',
    addHost: (host: string) => `Add domain: ${host}`,
    added: (domain: string) => `${domain} is added.`,
    prove: 'Prove that you own it, and its pages can send events.',
    reload: 'Reload the page, and its events arrive.',
  },
  domain: {
    missing: 'Events are accepted only from verified domains.',
    link: 'Add your domain',
  },
  actions: {
    hubspot: 'Import a CSV file',
    mailbox: 'Open senders',
    webhooks: 'New webhook',
    tracker: 'All tracker options',
    debugger: 'Watch events arrive',
    sources: 'Create a source',
    apps: 'Connected apps',
    systems: 'Connect a system',
    allSystems: 'Connected systems',
  },
  debugger: {
    title: 'Event debugger',
    description: 'What your sites send, as it arrives: events, and requests that were rejected or got warnings.',
    filter: 'Filter by event, URL, visitor or reason',
    clearFilter: 'Clear filter',
    show: 'Show',
    all: 'Everything',
    events: 'Events',
    problems: 'Problems',
    pause: 'Pause',
    resume: 'Resume',
    clear: 'Clear',
    live: 'Live',
    paused: (waiting: number) => (waiting === 0 ? 'Paused' : `Paused, ${formatNumber(waiting)} new`),
    connecting: 'Connecting…',
    list: 'What arrived, newest first',
    nothing: 'Nothing yet. Open a page of your site that has the tracker.',
    noMatch: 'Nothing matches the filter.',
    bot: 'Bot',
    request: (host: string | null) => (host === null ? 'A request from your server' : `A request from ${host}`),
    rejected: (what: string) => `${what} was rejected`,
    warned: (what: string) => `${what} got warnings`,
    refused: (host: string) => `A page on ${host} tried to send events`,
    rawNames: 'Raw names',
    skipped: (count: number) => `and ${count === 1 ? '1 more' : `${formatNumber(count)} more`} at about the same time`,
    raw: 'JSON',
    anonymous: 'Anonymous visitor',
    contact: 'A contact',
    kept: 'Rejected requests are kept for one hour.',
  },
}
