import { formatAgo, formatNumber } from '../ui/format.ts'

const counted = (count: number, one: string, many: string) => `${formatNumber(count)} ${count === 1 ? one : many}`

/** The texts of the page of integrations. */
export const text = {
  title: 'Integrations',
  description: 'Where your data comes from, where it goes, and what developers need.',
  debugger: 'Event debugger',
  groups: { in: 'Data in', out: 'Data out', developers: 'For developers' },
  cards: {
    website: {
      title: 'Website',
      description: 'One script records visits, clicks and forms.',
      action: 'Add the script',
    },
    servers: { title: 'Servers', description: 'Contacts and events from your own code.' },
    segment: { title: 'Segment or RudderStack', description: 'Keep their SDKs and your calls: change one URL.' },
    systems: {
      title: 'Systems you use',
      description: 'Your CRM, product analytics or help desk, read every few minutes.',
      action: 'Connect a system',
    },
    hooks: {
      title: 'Incoming webhooks',
      description: 'A URL that receives requests from form, payment and booking tools.',
      action: 'Create one',
    },
    imports: { title: 'CSV files', description: 'Contacts from a spreadsheet or an export.', action: 'Import a file' },
    mailbox: {
      title: 'Mailboxes',
      description: 'Send as a member of your team, and keep replies with the contact.',
      action: 'Connect a mailbox',
    },
    webhooks: {
      title: 'Webhooks',
      description: 'Signed requests to your systems when something happens.',
      action: 'Create one',
    },
    warehouse: {
      title: 'Warehouse',
      description: 'All data as Parquet files in your own storage, on a schedule.',
      action: 'Add a destination',
    },
    writeBack: {
      title: 'Your CRM',
      description: 'Chosen properties are written back to your CRM.',
    },
    mcp: {
      title: 'AI agents',
      description: 'Claude, ChatGPT, Cursor and others read your data over MCP.',
      action: 'Connect one',
    },
    keys: { title: 'API keys', description: 'For your code, with the scopes that it needs.', action: 'Create a key' },
    sources: { title: 'Sources', description: 'Every system that sends data, and when it was last seen.' },
    oauth: {
      title: 'OAuth clients',
      description: 'Your OAuth apps at Google, Microsoft and your CRM.',
    },
  },
  guides: { nextjs: 'Next.js', wordpress: 'WordPress', node: 'Node', python: 'Python', hubspot: 'HubSpot' },
  manage: 'Manage',
  /** For screen readers, which meet the same button on many cards. */
  actionFor: (action: string, title: string) => `${action}: ${title}`,
  setUp: 'Set up',
  /** What a card says of its state. */
  states: {
    none: 'Nothing yet',
    notConnected: 'Not connected',
    last: (at: string) => `Last seen ${formatAgo(at)}`,
    connections: (count: number) => `${formatNumber(count)} connected`,
    hooks: (count: number, at: string | null) =>
      at === null ? counted(count, 'URL, no request yet', 'URLs, no request yet') : `Last request ${formatAgo(at)}`,
    imports: (at: string) => `Last import ${formatAgo(at)}`,
    mailboxes: (count: number) => counted(count, 'mailbox', 'mailboxes'),
    webhooks: (count: number) => counted(count, 'subscription', 'subscriptions'),
    destinations: (count: number) => counted(count, 'destination', 'destinations'),
    writeBacks: (count: number) => counted(count, 'system', 'systems'),
    apps: (count: number) => counted(count, 'application', 'applications'),
    keys: (count: number) => counted(count, 'key', 'keys'),
    sources: (count: number) => counted(count, 'source', 'sources'),
    failing: (count: number) => `${formatNumber(count)} failing`,
  },
}
