import { formatNumber } from '../ui/format.ts'

/** The texts of the home page. */
export const text = {
  title: 'Home',
  /** @param until the time of day that both periods end at; null if the period is over */
  description: (days: number, until: string | null) =>
    `Compared with the ${days === 1 ? 'day' : `${formatNumber(days)} days`} before${until === null ? '' : `, up to the same time (${until} UTC)`}. Days are in UTC. Bots are excluded.`,

  firstSteps: {
    title: 'Three steps to your first event',
    description: 'This page shows your first event the moment it arrives.',
    done: 'done',
    domain: {
      title: 'Add your domain',
      local: 'The service runs on this computer, so localhost needs no proof of ownership.',
      public: 'Only pages of your own domains can send events, so nobody else can fake them.',
      label: 'Domain',
      placeholder: 'example.com',
      add: 'Add domain',
      verified: (domains: string[]) =>
        `Pages on ${domains.join(', ')} and ${domains.length === 1 ? 'its' : 'their'} subdomains can send events.`,
      added: {
        before: (domain: string) => `${domain} is added. Next, `,
        link: 'prove that you own it',
        after: '.',
      },
      viewer: 'Ask an admin of your workspace to add the domain of your site.',
    },
    tracker: {
      title: 'Install the tracker',
      description:
        'Paste this into the head of every page. It sets no third-party cookies and talks only to this service.',
      code: 'Code: the snippet',
      copy: 'the snippet',
    },
    visit: {
      title: 'Visit your site',
      description: 'Open one of those pages in a browser.',
      waiting: 'Waiting for the first event…',
      api: {
        before: 'No site yet? Your servers can send contacts and events too: ',
        link: 'connect a server',
        after: '.',
      },
    },
  },

  firstEvent: {
    title: 'Your first event has arrived',
    on: (what: string) => `${what} on `,
    visitor: 'See the visitor',
    contact: 'See the contact',
  },

  ask: {
    title: 'Ask your data',
    description: (model: string) =>
      `Answered by ${model}. Names, email addresses and other personal data are hidden from it.`,
    placeholder: 'Who looked at pricing twice this week and got no reply?',
    ask: 'Ask',
    waiting: 'Looking it up…',
    suggestions: [
      'Who looked at pricing twice this week and got no reply?',
      'Where did last week’s new contacts come from?',
      'Which companies are most active this month?',
      'Where do people drop off between pricing and sign-up this month?',
    ],
    calls: (count: number) => (count === 1 ? 'How it was looked up: 1 step' : `How it was looked up: ${count} steps`),
    openContacts: 'Open these contacts, to change the filter or save it as a segment',
    openChart: 'Open this breakdown, to change it',
    openQuestion: 'Open this question, to change it or save it as a report',
    chart: 'What was asked, as a chart',
    loadingChart: 'Loading the chart',
  },

  figures: {
    label: 'Figures',
    visitors: 'Visitors',
    identified: 'Identified contacts',
    events: 'Events',
    created: 'New contacts',
    byDay: (label: string) => `${label} by day`,
    before: (count: number) => (count === 0 ? 'none before' : `${formatNumber(count)} before`),
  },

  trend: {
    metric: 'Metric',
    metrics: { events: 'Events', visitors: 'Visitors' },
    byDay: { events: 'Events by day', visitors: 'Visitors by day' },
  },

  pages: { title: 'Top pages', unit: 'views', empty: 'No page views in this period.' },
  sources: { title: 'Top sources', unit: 'visitors', empty: 'No visitors in this period.', direct: 'Direct' },

  approvals: {
    waiting: (count: number) => (count === 0 ? 'Nothing to approve' : `${formatNumber(count)} waiting for approval`),
    review: 'Review proposed actions',
    none: 'Actions that agents propose appear here.',
  },

  live: {
    title: 'Live',
    paused: 'paused',
    connecting: 'connecting…',
    pause: 'Pause',
    resume: 'Resume',
    label: 'Who is here, by what they did last',
    empty: 'Nobody has been here yet.',
    did: (what: string, where: string | null, steps: number) =>
      [what, where, steps > 1 ? `${formatNumber(steps)} steps` : null].filter((part) => part !== null).join(' · '),
    anonymous: 'Anonymous visitor',
    contact: 'A contact',
  },
}
