/** The texts of a visitor's page. */
export const text = {
  title: 'Visitor',
  anonymous: 'Anonymous visitor',
  bot: 'Bot',
  unnamed: 'Unnamed contact',
  events: 'Events',
  about: {
    title: 'About this visitor',
    id: 'Visitor ID',
    copy: 'visitor ID',
    contact: 'Contact',
    notIdentified: 'not identified yet',
    first: 'First seen',
    last: 'Last seen',
    visits: 'Visits',
    landing: 'First page',
    referrer: 'Came from',
    direct: 'direct',
    browser: 'Browser',
    device: 'Device',
    screen: 'Screen',
  },
}
