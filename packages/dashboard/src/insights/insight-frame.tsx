import { Card, Tabs } from '@mantine/core'
import { IconActivity } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Input } from '../api/client.ts'
import { ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { eventNamesQuery, type InsightName, type Kind } from './answer-query.ts'
import classes from './insight-frame.module.css'
import { parseQuestion } from './question.ts'
import { SaveReport } from './save-report.tsx'
import { text as words } from './text.ts'

/** The page of each kind of question. */
export const KIND_PATHS = {
  trend: '/insights',
  funnel: '/insights/funnel',
  retention: '/insights/retention',
  paths: '/insights/paths',
} as const
const PATHS = { ...KIND_PATHS, reports: '/insights/reports', alerts: '/insights/alerts' } as const
type Tab = keyof typeof PATHS
const TABS = Object.keys(PATHS) as Tab[]

interface InsightPageProps<Name extends InsightName> {
  tab: keyof typeof KIND_PATHS
  kind: Kind<Name>
  /** The question in the URL. */
  text: string | undefined
  children: (question: Input<Name>) => ReactNode
}

/** A kind of question: the one in the URL, or one that is proposed from the events that there are. */
export function InsightPage<Name extends InsightName>({ tab, kind, text, children }: InsightPageProps<Name>) {
  const stored = parseQuestion(text, kind.isQuestion)
  const { data: events, error, refetch } = useQuery({ ...eventNamesQuery, enabled: stored === undefined })
  const question = stored ?? (events && events.length > 0 ? kind.propose(events) : undefined)
  return (
    <>
      <InsightHeader tab={tab} actions={question ? <SaveReport kind={tab} question={{ ...question }} /> : null} />
      {question ? children(question) : null}
      {!question && error ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!question && !error && !events ? <LoadingState lines={10} label={words.loading} /> : null}
      {!question && events ? (
        <EmptyState
          icon={IconActivity}
          title={words.noEvents.title}
          action={
            <ButtonLink to="/integrations" variant="light">
              {words.noEvents.action}
            </ButtonLink>
          }
        >
          {words.noEvents.hint}
        </EmptyState>
      ) : null}
    </>
  )
}

/** The title of the insights, and their tabs. */
export function InsightHeader({ tab, actions }: { tab: Tab; actions?: ReactNode }) {
  return (
    <>
      <PageHeader title={words.title} description={words.description} actions={actions} />
      <InsightTabs current={tab} />
    </>
  )
}

function InsightTabs({ current }: { current: Tab }) {
  const navigate = useNavigate()
  return (
    <Tabs
      value={current}
      mb="md"
      onChange={(tab) => navigate({ to: PATHS[TABS.find((each) => each === tab) ?? current] })}
      // Each is a page with its own URL, so arrow keys alone do not switch.
      activateTabWithKeyboard={false}
    >
      <Tabs.List aria-label={words.kinds.label}>
        {TABS.map((each) => (
          <Tabs.Tab key={each} value={each}>
            {words.kinds[each]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
    </Tabs>
  )
}

/** The question beside its answer; in a narrow window, above it. */
export function QuestionAndAnswer({ question, answer }: { question: ReactNode; answer: ReactNode }) {
  return (
    <div className={classes.columns}>
      <Card component="section" aria-label={words.question.label}>
        {question}
      </Card>
      <div className={classes.answer}>{answer}</div>
    </div>
  )
}
