import { formatNumber } from '../ui/format.ts'

/** The texts of the enrichment settings. */
export const text = {
  title: 'Enrichment',
  description:
    'The service fills in what is missing in contacts, from what it already has and from providers that you add. Without a provider, nothing leaves your server. A value from a person or another source is never replaced.',
  switches: {
    title: 'What is filled in without providers',
    company: {
      label: 'Company of a work address',
      description:
        'Links a contact to the company with the domain of the email address, and creates the company if there is none. Free and disposable mail hosts have no company.',
    },
    place: {
      label: 'Place of the last visit',
      description: 'Fills in the country, region and city of the last visit.',
    },
    phone: {
      label: 'Phone numbers in standard form',
      description: 'Adds the international form of a phone number, such as +431588580, and its country.',
    },
    name: {
      label: 'Names from mails',
      description: 'Fills in the name beside the address in a mail, for contacts without a name.',
    },
  },
  later: 'A change applies from now on. What was filled in before stays.',
  country: {
    title: 'Phone numbers without a country code',
    label: 'Country',
    description: 'Where these numbers are from, if the contact has no country.',
    none: 'No country',
    saved: 'Country saved.',
  },
  runs: {
    title: 'Enrich existing contacts',
    explanation:
      'Looks at contacts that you already have, with their earlier visits and mails. It runs in the background, and can be undone for seven days.',
    offer: 'Enrich the contacts you already have?',
    offerHint: 'The change applies to new contacts and new data. To apply it to the others, start below.',
    notNow: 'Not now',
    which: 'Contacts',
    all: 'All contacts',
    segment: (name: string) => `Segment: ${name}`,
    chosen: (count: number) => (count === 1 ? '1 selected contact' : `${formatNumber(count)} selected contacts`),
    import: 'An import',
    filter: 'Those that match a filter',
    start: 'Enrich contacts',
    empty: 'No enrichments yet',
    emptyHint: 'Contacts are enriched when they are created or changed. Start one here for those that you had before.',
    requested: 'Requested',
    contacts: 'Contacts',
    state: 'Status',
    enriched: 'Enriched',
    attention: 'Failed or kept',
    actions: 'Actions',
    openAttention: (count: number) =>
      count === 1
        ? 'Show the contact that failed or was kept'
        : `Show the ${formatNumber(count)} contacts that failed or were kept`,
    failed: 'Could not be enriched',
    kept: 'Changed since, and kept by the undo',
    progress: 'Progress of the enrichment',
    done: (done: number, total: number) => `${formatNumber(done)} of ${formatNumber(total)}`,
    states: {
      undoing: 'Undoing',
      completed: 'Completed',
      failed: 'Failed',
      cancelled: 'Cancelled',
      undone: 'Undone',
    },
    undone: (contacts: number, companies: number) =>
      companies === 0
        ? `${formatNumber(contacts)} restored`
        : `${formatNumber(contacts)} restored, ${formatNumber(companies)} companies deleted`,
    cancel: {
      button: 'Cancel',
      title: 'Cancel this enrichment?',
      explanation: 'What it has filled in so far stays until you undo it.',
    },
    undo: {
      button: 'Undo',
      title: 'Undo this enrichment?',
      explanation:
        'What it filled in is taken back, and companies that it created and nothing uses are deleted. What was changed since stays.',
    },
  },
}
