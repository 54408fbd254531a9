import { Box, Card, Tabs, Text, UnstyledButton } from '@mantine/core'
import { useId, useMediaQuery } from '@mantine/hooks'
import { IconActivity } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Input } from '../api/client.ts'
import { ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { eventNamesQuery, type InsightName, type Kind } from './answer-query.ts'
import { AddToDashboard } from './dashboards/add-to-dashboard.tsx'
import classes from './insight-frame.module.css'
import { KIND_PATHS } from './kind-paths.ts'
import { parseQuestion } from './question.ts'
import { SaveReport } from './save-report.tsx'
import { StartCards } from './start-cards.tsx'
import type { Summary } from './summary.ts'
import { text as words } from './text.ts'

const PATHS = {
  ...KIND_PATHS,
  reports: '/insights/reports',
  dashboards: '/insights/dashboards',
  alerts: '/insights/alerts',
} as const
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
      <InsightHeader
        tab={tab}
        actions={
          question ? (
            <>
              <AddToDashboard kind={tab} question={{ ...question }} />
              <SaveReport kind={tab} question={{ ...question }} />
            </>
          ) : null
        }
      />
      {tab === 'trend' && !stored && events && events.length > 0 ? <StartCards events={events} /> : null}
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

/** Where there is no room for the question beside its answer. */
const NARROW = '(max-width: 74.99em)'

interface QuestionAndAnswerProps {
  summary: Summary
  question: ReactNode
  answer: ReactNode
}

/** The question beside its answer. In a narrow window it is one line above the answer, until it is edited. */
export function QuestionAndAnswer({ summary: { what, when }, question, answer }: QuestionAndAnswerProps) {
  const [isOpen, setOpen] = useState(false)
  const isNarrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false })
  const id = useId()
  return (
    <div className={classes.columns}>
      <Card component="section" aria-label={words.question.label}>
        {isNarrow ? (
          <UnstyledButton
            className={classes.summary}
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => setOpen(!isOpen)}
          >
            <Text component="span" size="sm" fw={550} lineClamp={2}>
              {words.summary.whole(what, when)}
            </Text>
            <Text component="span" size="sm" c="var(--mantine-color-anchor)" flex="none">
              {isOpen ? words.summary.close : words.summary.edit}
            </Text>
          </UnstyledButton>
        ) : null}
        <Box id={id} hidden={isNarrow && !isOpen} mt={isNarrow ? 'md' : 0}>
          {question}
        </Box>
      </Card>
      <div className={classes.answer}>{answer}</div>
    </div>
  )
}
