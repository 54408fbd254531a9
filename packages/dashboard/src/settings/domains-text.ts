/** The texts of the page of domains. */
export const text = {
  title: 'Domains',
  description:
    'Events are accepted from pages of a verified domain and its subdomains. Only one workspace can own a domain.',
  loading: 'Loading domains',
  pages: 'Domains',
  add: {
    title: 'Add a domain',
    label: 'Domain, such as example.com',
  },
  empty: {
    title: 'No domains yet',
    explanation: "Add your site's domain, then prove that you own it: with a DNS record, a file or a meta tag.",
  },
  verified: 'verified',
  unverified: 'not verified',
  verify: 'Verify',
  verifyAgain: 'Check again',
  remove: {
    button: 'Remove',
    title: (domain: string) => `Remove ${domain}?`,
    explanation: 'Events from its pages will be rejected. Recorded events are kept.',
    confirm: 'Remove domain',
  },
  verifiedBy: {
    dns: (day: string) => `Verified on ${day} by a DNS record. Keep the record.`,
    file: (day: string) => `Verified on ${day} by a file on the site. Keep the file.`,
    meta: (day: string) => `Verified on ${day} by a meta tag on the home page. Keep the tag.`,
    local: (day: string) =>
      `Added on ${day}. It needs no proof, because the service runs on this computer. Once the service runs on a public URL, its pages can no longer send events.`,
    operator: (day: string) => `Verified on ${day} by the operator of the service.`,
  },
  choose: 'Prove that you own the domain in one of three ways, then verify it.',
  ways: {
    label: (domain: string) => `Ways to verify ${domain}`,
    dns: {
      tab: 'DNS record',
      explanation: 'Add this record to the DNS of the domain. It can take up to an hour to appear.',
      type: 'Type',
      typeValue: 'TXT',
      name: 'Name',
      value: 'Value',
      copyName: 'record name',
      copyValue: 'record value',
    },
    file: {
      tab: 'File',
      explanation: 'Serve a text file at this URL, with this content and nothing else.',
      url: 'URL',
      content: 'Content',
      copyUrl: 'file URL',
      copyContent: 'file content',
    },
    meta: {
      tab: 'Meta tag',
      explanation: "Paste this into the head of the site's home page. The site needs HTTPS.",
      tag: 'Tag',
      copyTag: 'meta tag',
    },
  },
  found: {
    dns: 'The DNS record is there: the domain is yours.',
    file: 'The file is there: the domain is yours.',
    meta: 'The meta tag is there: the domain is yours.',
    local: 'This domain is your own computer and needs no proof.',
  },
  notFound: 'No proof found yet.',
  places: { dns: 'DNS record', file: 'File', meta: 'Meta tag' },
  outcomes: {
    dns: {
      nothing: 'there is no TXT record under this name yet. If you have just added it, try again later.',
      other_value: 'there is a TXT record under this name, but with another value:',
      unreachable: 'DNS did not respond. Try again later.',
      found: 'it is there.',
    },
    file: {
      nothing: 'the file is empty.',
      other_value: 'the file has other content:',
      unreachable: 'the file cannot be read over HTTPS.',
      found: 'it is there.',
    },
    meta: {
      nothing: 'the home page has no such tag in its head.',
      other_value: 'the tag on the home page has another value:',
      unreachable: 'the home page cannot be read over HTTPS.',
      found: 'it is there.',
    },
  },
  forms: {
    title: 'Send your forms here',
    explanation:
      'A form on a verified domain can create contacts: POST its fields as JSON to this URL. Choose any name for FORM_ID.',
    url: 'Form URL',
    copyUrl: 'form URL',
    id: 'Workspace ID',
    copyId: 'workspace ID',
    example: 'Body',
    copyExample: 'example body',
  },
}
