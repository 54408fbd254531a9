import type { App } from '../platform/http/app-types.ts'

const LAST_DAYS = { last: { value: 60, unit: 'day' } }
const page = (path: string) => ({
  event: 'page_view',
  where: [{ property: 'url_path', operator: 'equals', value: path }],
})
const SAW_FORM = { ...page('/signup'), label: 'Saw the sign-up form' }
const CLICKED_TRIAL = {
  event: 'button_click',
  where: [{ property: 'text', operator: 'equals', value: 'Start free trial' }],
  label: 'Clicked “Start free trial”',
}

/** What a growth team asks first. The key names the report here. */
const REPORTS = {
  people: {
    name: 'People by day',
    kind: 'trend',
    question: { ...LAST_DAYS, series: [{ event: 'page_view', metric: 'unique_people' }], interval: 'day' },
  },
  revenue: {
    name: 'New subscriptions by plan',
    kind: 'trend',
    question: {
      ...LAST_DAYS,
      series: [{ event: 'subscription_started', metric: 'sum', property: 'data.amount', label: 'Monthly revenue' }],
      interval: 'week',
      breakdown: ['data.plan'],
    },
  },
  signUp: {
    name: 'From pricing to the first project',
    kind: 'funnel',
    question: {
      ...LAST_DAYS,
      steps: [
        { ...page('/pricing'), label: 'Saw pricing' },
        CLICKED_TRIAL,
        SAW_FORM,
        { event: 'signed_up', label: 'Signed up' },
        { event: 'project_created', label: 'Created a project' },
      ],
      window: { value: 7, unit: 'day' },
    },
  },
  deals: {
    name: 'From a visit to a won deal',
    kind: 'funnel',
    question: {
      last: { value: 90, unit: 'day' },
      steps: [
        { ...page('/pricing'), label: 'Saw pricing' },
        { event: 'deal_created', label: 'Deal created' },
        { event: 'deal_won', label: 'Deal won' },
      ],
      window: { value: 12, unit: 'week' },
    },
  },
  dealsWon: {
    name: 'Won deals in EUR',
    kind: 'trend',
    question: {
      ...LAST_DAYS,
      series: [{ event: 'deal_won', metric: 'sum', property: 'data.amount', label: 'Won' }],
      interval: 'week',
    },
  },
  staying: {
    name: 'Who keeps reading reports after signing up',
    kind: 'retention',
    question: {
      last: { value: 10, unit: 'week' },
      start: { event: 'signed_up' },
      return: { event: 'report_viewed' },
      interval: 'week',
      intervals: 8,
    },
  },
  ways: {
    name: 'Where people go from the front page',
    kind: 'paths',
    question: { ...LAST_DAYS, kind: 'pages', from: '/', depth: 4 },
  },
  trialWorks: {
    name: 'How many trial clicks reach the form',
    kind: 'trend',
    question: {
      ...LAST_DAYS,
      series: [
        { ...CLICKED_TRIAL, metric: 'unique_people' },
        { ...SAW_FORM, metric: 'unique_people' },
      ],
      formula: 'B / A',
      interval: 'day',
    },
  },
} as const
type ReportName = keyof typeof REPORTS

const WELCOME = `**This invented company launched six weeks ago**, ran a campaign two weeks later, and since then had a Tuesday on which nobody could start a trial.

Click _went no further_ in the funnel to see who wanted one. An alert would have told you: see _Insights → Alerts_.`

/** Saves reports, a dashboard of them and an alert, through the API as a person would. */
export async function createGrowthReports(app: App, apiKey: string): Promise<void> {
  const post = async (url: string, payload: object) => {
    const headers = { authorization: `Bearer ${apiKey}` }
    const response = await app.inject({ method: 'POST', url, headers, payload })
    if (response.statusCode !== 201) throw new Error(`The demo could not be created: ${url}: ${response.body}`)
    return response.json()
  }
  const ids = {} as Record<ReportName, string>
  for (const [key, report] of Object.entries(REPORTS)) {
    ids[key as ReportName] = (await post('/v1/reports', report)).report.report_id
  }
  await post('/v1/dashboards', {
    name: 'Growth',
    tiles: [
      { text: WELCOME, x: 0, y: 0, width: 12, height: 2 },
      { report_id: ids.people, x: 0, y: 2, width: 8, height: 4 },
      { report_id: ids.trialWorks, x: 8, y: 2, width: 4, height: 4 },
      { report_id: ids.signUp, x: 0, y: 6, width: 12, height: 8 },
      { report_id: ids.staying, x: 0, y: 14, width: 7, height: 5 },
      { report_id: ids.revenue, x: 7, y: 14, width: 5, height: 5 },
      { report_id: ids.deals, x: 0, y: 19, width: 7, height: 6 },
      { report_id: ids.dealsWon, x: 7, y: 19, width: 5, height: 6 },
      { report_id: ids.ways, x: 0, y: 25, width: 12, height: 6 },
    ],
  })
  await post('/v1/alerts', {
    name: 'Trials cannot be started',
    report_id: ids.trialWorks,
    at: {},
    condition: { operator: 'below', value: 0.5 },
  })
}
