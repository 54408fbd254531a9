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
}
