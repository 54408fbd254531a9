import { Drawer, Stack, Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useState } from 'react'
import type { Input } from '../api/client.ts'
import { queryOf } from '../api/operation.ts'
import type { SegmentFilter } from '../api/types.ts'
import { ContactLinks } from '../records/contact-links.tsx'
import { useMay } from '../session/may.ts'
import { formatNumber } from '../ui/format.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { PeopleActions } from './people-actions.tsx'
import classes from './people-panel.module.css'
import { text } from './text.ts'

const words = text.people
const CONTACTS_SHOWN = 20

export type Place = Input<'insightPeople'>['at']
type Asked = Pick<Input<'insightPeople'>, 'kind' | 'question'>

/** A number of an answer. */
interface Chosen {
  /** What it counts. */
  name: string
  at: Place
}

const PeopleContext = createContext<((chosen: Chosen) => void) | null>(null)

/** Around what is shown to people who are not signed in: numbers alone. */
export const PeopleAreHidden = createContext(false)

/** An answer whose numbers open the people behind them in a panel. Those of a sample do not: it is a part of the people. */
export function WithPeople({ children, ...asked }: Asked & { children: ReactNode }) {
  return useContext(PeopleAreHidden) ? children : <PeoplePanel {...asked}>{children}</PeoplePanel>
}

function PeoplePanel({ kind, question, children }: Asked & { children: ReactNode }) {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [isOpen, setOpen] = useState(false)
  const mayRead = useMay('contacts:read')
  const show = (number: Chosen) => {
    setChosen(number)
    setOpen(true)
  }
  return (
    <PeopleContext value={mayRead && question.sample === undefined ? show : null}>
      {children}
      <Drawer
        opened={isOpen}
        onClose={() => setOpen(false)}
        position="right"
        size="md"
        title={chosen ? <Foreign max={120}>{chosen.name}</Foreign> : null}
      >
        {chosen ? <People kind={kind} question={question} at={chosen.at} /> : null}
      </Drawer>
    </PeopleContext>
  )
}

/** Shows the people behind a number; null for those who may not read contacts. */
export function useShowPeople(): ((chosen: Chosen) => void) | null {
  return useContext(PeopleContext)
}

interface FigureButtonProps extends Chosen {
  /** The number as people read it. */
  children: string
}

/** A number that opens the people behind it, for those who may read contacts. */
function FigureButton({ name, at, children }: FigureButtonProps) {
  const show = useShowPeople()
  if (show === null) return children
  return (
    <UnstyledButton
      className={classes.figure}
      aria-label={words.of(children, name.slice(0, 100))}
      onClick={() => show({ name, at })}
    >
      {children}
    </UnstyledButton>
  )
}

interface PeopleFigureProps {
  name: string
  /** Undefined where nobody can be listed, as in a period before. */
  at: Place | undefined
  value: number | null | undefined
  /** The number as people read it. */
  children: string
}

/** A number that opens the people behind it. Nobody is behind nothing. */
export function PeopleFigure({ name, at, value, children }: PeopleFigureProps) {
  if (at === undefined || !value) return children
  return (
    <FigureButton name={name} at={at}>
      {children}
    </FigureButton>
  )
}

function People(asked: Input<'insightPeople'>) {
  const { data, error, refetch } = useQuery(queryOf('insightPeople', asked))
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  if (!data) return <LoadingState label={words.loading} />
  const { contacts, anonymous, filter } = data
  return (
    <Stack gap="md">
      <div>
        <Text fz={32} fw={650} lh={1.1}>
          {formatNumber(contacts)}
        </Text>
        <Text size="sm" c="dimmed" role="status">
          {words.counted(contacts, anonymous)}
        </Text>
      </div>
      {contacts > 0 ? <Contacts filter={filter} total={contacts} /> : null}
    </Stack>
  )
}

function Contacts({ filter, total }: { filter: SegmentFilter; total: number }) {
  const { data, error, refetch } = useQuery(
    queryOf('listContacts', { filter: JSON.stringify(filter), limit: CONTACTS_SHOWN }),
  )
  return (
    <>
      <PeopleActions filter={filter} />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState label={words.loading} /> : null}
      {data ? <ContactLinks contacts={data.contacts} label={words.contacts} /> : null}
      {data && total > data.contacts.length ? (
        <Text size="sm" c="dimmed">
          {words.more(total - data.contacts.length)}
        </Text>
      ) : null}
    </>
  )
}
