import { Box, Button, Card, Group, Tabs, Text, UnstyledButton } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useContext, useState } from 'react'
import { BarList } from '../ui/bar-list.tsx'
import { formatNumber } from '../ui/format.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { formatShare } from './axis.ts'
import { WEB } from './kinds.ts'
import { listQuery, ROWS_SHOWN } from './list-query.ts'
import { PeopleAreHidden, PeopleFigure } from './people-panel.tsx'
import { text as shared } from './text.ts'
import { CARDS, type CardName, type ListName, type RowValue, rowName } from './web-lists.ts'
import { isNarrowedTo, type WebAnswer, type WebQuestion } from './web-question.ts'
import { text } from './web-text.ts'

export interface ListsProps {
  question: WebQuestion
  answer: WebAnswer
  /** Narrows the page to a row; absent where it cannot be changed. */
  onToggle?: ((list: ListName, value: RowValue) => void) | undefined
  /** Shows a whole list; absent where it cannot be asked for. */
  onAll?: ((list: ListName) => void) | undefined
}

interface ListCardProps extends ListsProps {
  card: CardName
  /** Beside the rows of a list. */
  around?: (list: ListName, rows: ReactNode) => ReactNode
}

/** Some lists, one of which is shown. One that the answer lacks is asked for when its tab is opened, by those who may ask. */
export function ListCard({ card, around = (_, rows) => rows, ...lists }: ListCardProps) {
  const { answer } = lists
  const isPublic = useContext(PeopleAreHidden)
  const names: readonly ListName[] = isPublic ? CARDS[card].filter((each) => answer.lists[each]) : CARDS[card]
  const [chosen, setChosen] = useState<ListName>(CARDS[card][0])
  const list = names.includes(chosen) ? chosen : names[0]
  if (list === undefined) return null
  const rows = answer.lists[list] ? <Rows list={list} {...lists} /> : <AskedRows key={list} list={list} {...lists} />
  return (
    <Card component="section" aria-label={text.cards[card]} miw={0}>
      <Tabs
        value={list}
        keepMounted={false}
        onChange={(name) => setChosen(names.find((each) => each === name) ?? list)}
      >
        <Tabs.List aria-label={text.cards[card]} mb="sm">
          {names.map((each) => (
            <Tabs.Tab key={each} value={each} px="xs">
              {text.lists[each].tab}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={list}>{around(list, rows)}</Tabs.Panel>
      </Tabs>
    </Card>
  )
}

function AskedRows(props: ListsProps & { list: ListName }) {
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...listQuery(props.question, props.list, ROWS_SHOWN),
    // Of the same list, while the page is narrowed.
    placeholderData: keepPreviousData,
    refetchInterval: WEB.refreshMs ?? false,
  })
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  if (!data) return <LoadingState label={shared.loading} />
  return (
    <Box aria-busy={isPlaceholderData} opacity={isPlaceholderData ? 0.6 : 1}>
      <Rows {...props} answer={data} />
    </Box>
  )
}

/** The rows of a list with the most people. */
function Rows({ list, question, answer, onToggle, onAll }: ListsProps & { list: ListName }) {
  const rows = answer.lists[list] ?? []
  const more = answer.more[list] ?? 0
  const { people: all } = answer.totals
  return (
    <>
      {rows.length > 0 ? (
        <Group justify="space-between" px={8} mb={4} aria-hidden>
          <Text size="xs" c="dimmed">
            {text.lists[list].one}
          </Text>
          <Text size="xs" c="dimmed">
            {text.unit}
          </Text>
        </Group>
      ) : null}
      <BarList
        unit={text.unit}
        empty={text.empty}
        rows={rows.map(({ value, people }) => ({
          key: value ?? '',
          label: <RowButton list={list} value={value} question={question} onToggle={onToggle} />,
          value: people,
          figure: (
            <>
              <Text span size="xs" c="dimmed" mr="sm">
                {formatShare(all === 0 ? null : people / all)}
              </Text>
              <Box component="span" display="inline-block" miw={44} ta="right">
                <PeopleFigure
                  name={text.rowOf(text.lists[list].one, rowName(list, value))}
                  at={{ list, value }}
                  value={people}
                >
                  {formatNumber(people)}
                </PeopleFigure>
              </Box>
            </>
          ),
        }))}
      />
      {more > 0 && onAll ? (
        <Button variant="subtle" size="compact-sm" mt="xs" onClick={() => onAll(list)}>
          {text.all(rows.length + more)}
        </Button>
      ) : null}
    </>
  )
}

interface RowButtonProps extends Pick<ListsProps, 'question' | 'onToggle'> {
  list: ListName
  value: RowValue
}

/** The name of a row, which narrows the page to it. */
export function RowButton({ list, value, question, onToggle }: RowButtonProps) {
  const name = rowName(list, value)
  const isOn = isNarrowedTo(question, list, value)
  if (onToggle === undefined) return <Foreign max={120}>{name}</Foreign>
  return (
    <UnstyledButton
      fz="inherit"
      mih={24}
      fw={isOn ? 650 : undefined}
      ta="start"
      title={name.slice(0, 300)}
      aria-label={text.only(name.slice(0, 120))}
      aria-pressed={isOn}
      onClick={() => onToggle(list, value)}
    >
      <Foreign max={120}>{name}</Foreign>
    </UnstyledButton>
  )
}
