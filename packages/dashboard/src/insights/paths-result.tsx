import { Card, Table, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import type { PathLink } from '../api/types.ts'
import { eventLabel } from '../ui/event-words.ts'
import { formatNumber } from '../ui/format.ts'
import { Foreign } from '../ui/text.tsx'
import type { Answered } from './answer-query.ts'
import { colorOf } from './colors.ts'
import { saveCsv } from './csv.ts'
import { layoutOf } from './paths-layout.ts'
import classes from './paths-result.module.css'
import { PeopleFigure, WithPeople } from './people-panel.tsx'
import { DownloadButton, ResultHeader } from './result-header.tsx'
import { text } from './text.ts'

const words = text.paths
const HEIGHT = 520
/** Narrower columns have no place for names. */
const COLUMN_WIDTH_MIN = 172
const NAME_LENGTH_MAX = 20

/** The ways of visits as a flow from step to step, and as a table. */
export function PathsResult({ question, answer }: Answered<'insightPaths'>) {
  const nameOf = question.kind === 'events' ? eventLabel : (name: string) => name
  const before = new Map(answer.compare?.links.map((link) => [keyOf(link), link.count]))
  return (
    <WithPeople kind="paths" question={{ ...question, compare: undefined }}>
      <Card>
        <ResultHeader heading={words.heading}>
          <DownloadButton onClick={() => saveCsv(words.fileName, csvOf(answer.links), answer.sample)} />
        </ResultHeader>
        <Flow answer={answer} nameOf={nameOf} />
      </Card>
      <Card p={0}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <section className={classes.table} aria-label={words.table} tabIndex={0}>
          <Table stickyHeader verticalSpacing={4}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{words.step}</Table.Th>
                <Table.Th scope="col">{words.from}</Table.Th>
                <Table.Th scope="col">{words.to}</Table.Th>
                <Table.Th scope="col" ta="right">
                  {words.count}
                </Table.Th>
                {answer.compare ? (
                  <Table.Th scope="col" ta="right">
                    {words.before}
                  </Table.Th>
                ) : null}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {answer.links.map((link) => (
                <Table.Tr key={keyOf(link)}>
                  <Table.Td>{link.step}</Table.Td>
                  <Table.Td>
                    <Foreign max={80}>{nameOf(link.from)}</Foreign>
                  </Table.Td>
                  <Table.Td>
                    <Foreign max={80}>{nameOf(link.to)}</Foreign>
                  </Table.Td>
                  <Table.Td ta="right">
                    <PeopleFigure
                      name={words.way(nameOf(link.from), nameOf(link.to))}
                      at={{ step: link.step, from: link.from, to: link.to }}
                      value={link.count}
                    >
                      {formatNumber(link.count)}
                    </PeopleFigure>
                  </Table.Td>
                  {answer.compare ? <Table.Td ta="right">{formatNumber(before.get(keyOf(link)) ?? 0)}</Table.Td> : null}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
        {answer.others > 0 ? (
          <Text size="sm" c="dimmed" p="sm">
            {words.others(answer.others)}
          </Text>
        ) : null}
      </Card>
    </WithPeople>
  )
}

interface FlowProps {
  answer: Answered<'insightPaths'>['answer']
  nameOf: (name: string) => string
}

function Flow({ answer, nameOf }: FlowProps) {
  const { ref, width } = useElementSize()
  const steps = [...new Set(answer.nodes.map(({ step }) => step))].sort((a, b) => a - b)
  const whole = Math.max(width, steps.length * COLUMN_WIDTH_MIN)
  const { nodes, links, hidden } = layoutOf(answer, whole, HEIGHT)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section ref={ref} className={classes.flow} aria-label={words.heading} tabIndex={0}>
      {width > 0 ? (
        <svg width={whole} height={HEIGHT} role="img" aria-label={words.flow}>
          {links.map((link) => (
            <path
              key={keyOf(link)}
              className={classes.link}
              d={link.path}
              strokeWidth={link.width}
              style={{ color: colorOf(0) }}
            >
              <title>{words.link(nameOf(link.from), nameOf(link.to), link.count)}</title>
            </path>
          ))}
          {nodes.map(({ step, name, count, x, y, width: wide, height }) => (
            <g key={JSON.stringify([step, name])}>
              <rect x={x} y={y} width={wide} height={height} rx={2} fill={colorOf(0)}>
                <title>{words.node(nameOf(name), count)}</title>
              </rect>
              <text className={classes.name} x={x} y={y - 5}>
                {short(nameOf(name))} <tspan className={classes.count}>{formatNumber(count)}</tspan>
              </text>
            </g>
          ))}
        </svg>
      ) : null}
      {hidden > 0 ? (
        <Text size="xs" c="dimmed">
          {words.hidden(hidden)}
        </Text>
      ) : null}
    </section>
  )
}

function keyOf({ step, from, to }: PathLink): string {
  return JSON.stringify([step, from, to])
}

function short(name: string): string {
  return name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX - 1)}…` : name
}

function csvOf(links: readonly PathLink[]): (string | number | null)[][] {
  return [
    [words.step, words.from, words.to, words.count],
    ...links.map(({ step, from, to, count }) => [step, from, to, count]),
  ]
}
