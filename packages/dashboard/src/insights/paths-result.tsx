import { Card, Table, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import type { KeyboardEvent } from 'react'
import type { PathLink } from '../api/types.ts'
import { eventLabel } from '../ui/event-words.ts'
import { formatNumber } from '../ui/format.ts'
import { Foreign } from '../ui/text.tsx'
import type { Answered } from './answer-query.ts'
import { colorOf } from './colors.ts'
import { saveCsv } from './csv.ts'
import { layoutOf } from './paths-layout.ts'
import type { PathsQuestion } from './paths-question.ts'
import classes from './paths-result.module.css'
import { PeopleFigure, useShowPeople, WithPeople } from './people-panel.tsx'
import { DownloadButton, PictureButton, ResultHeader } from './result-header.tsx'
import { pathsSummary } from './summary.ts'
import { text } from './text.ts'

const words = text.paths
const HEIGHT = 520
/** Narrower columns have no place for names. */
const COLUMN_WIDTH_MIN = 172
const NAME_LENGTH_MAX = 20

/** The ways of visits as a flow from step to step, and as a table. */
export function PathsResult({ question, answer }: Answered<'insightPaths'>) {
  const nameOf = nameIn(question)
  return (
    <WithPeople kind="paths" question={{ ...question, compare: undefined }}>
      <Card>
        <ResultHeader heading={words.heading}>
          <PictureButton
            fileName={words.fileName}
            summary={pathsSummary(question)}
            draw={(width) => ({
              drawing: (
                <FlowDrawing flow={layoutOf(answer, width, HEIGHT)} width={width} height={HEIGHT} nameOf={nameOf} />
              ),
              height: HEIGHT,
            })}
          />
          <DownloadButton onClick={() => saveCsv(words.fileName, csvOf(answer.links), answer.sample)} />
        </ResultHeader>
        <Flow question={question} answer={answer} />
      </Card>
      <Card p={0}>
        <Ways question={question} answer={answer} />
      </Card>
    </WithPeople>
  )
}

/** Every step from one place to the next, as a table. */
export function Ways({ question, answer }: Answered<'insightPaths'>) {
  const nameOf = nameIn(question)
  const before = new Map(answer.compare?.links.map((link) => [keyOf(link), link.count]))
  return (
    <>
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
    </>
  )
}

/** How people read the name of a step. */
function nameIn({ kind }: PathsQuestion): (name: string) => string {
  return kind === 'events' ? eventLabel : (name) => name
}

/** The steps of visits as bands between columns. */
export function Flow({ question, answer, height = HEIGHT }: Answered<'insightPaths'> & { height?: number }) {
  const nameOf = nameIn(question)
  const { ref, width } = useElementSize()
  const steps = [...new Set(answer.nodes.map(({ step }) => step))].sort((a, b) => a - b)
  const whole = Math.max(width, steps.length * COLUMN_WIDTH_MIN)
  const flow = layoutOf(answer, whole, height)
  const show = useShowPeople()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section ref={ref} className={classes.flow} aria-label={words.heading} tabIndex={0}>
      {width > 0 ? <FlowDrawing flow={flow} width={whole} height={height} nameOf={nameOf} show={show} /> : null}
      {flow.hidden > 0 ? (
        <Text size="xs" c="dimmed">
          {words.hidden(flow.hidden)}
        </Text>
      ) : null}
    </section>
  )
}

interface FlowDrawingProps {
  flow: ReturnType<typeof layoutOf>
  width: number
  height: number
  nameOf: (name: string) => string
  /** Shows the people behind a node or a band. */
  show?: ReturnType<typeof useShowPeople>
}

/** Nodes are buttons. Bands are opened with the pointer; for the keyboard, the table has the same. */
function FlowDrawing({ flow: { nodes, links }, width, height, nameOf, show = null }: FlowDrawingProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no fieldset
    <svg width={width} height={height} role="group" aria-label={words.flow}>
      {links.map((link) => {
        const { step, from, to } = link
        const name = words.way(nameOf(from), nameOf(to))
        return (
          <path
            key={keyOf(link)}
            className={classes.link}
            d={link.path}
            strokeWidth={link.width}
            style={{ color: colorOf(0) }}
            aria-hidden
            {...(show ? { 'data-opens': true, onClick: () => show({ name, at: { step, from, to } }) } : {})}
          >
            <title>{words.link(nameOf(from), nameOf(to), link.count)}</title>
          </path>
        )
      })}
      {nodes.map(({ step, name, count, x, y, width: wide, height: high }) => (
        <g
          key={JSON.stringify([step, name])}
          className={classes.node}
          {...(show
            ? buttonOf(words.openNode(nameOf(name), count), () => show({ name: nameOf(name), at: { step, name } }))
            : {})}
        >
          <rect x={x} y={y} width={wide} height={high} rx={2} fill={colorOf(0)}>
            <title>{words.node(nameOf(name), count)}</title>
          </rect>
          <text className={classes.name} x={x} y={y - 5}>
            {short(nameOf(name))} <tspan className={classes.count}>{formatNumber(count)}</tspan>
          </text>
        </g>
      ))}
    </svg>
  )
}

/** What makes a part of a drawing a button. */
function buttonOf(label: string, onPress: () => void) {
  return {
    role: 'button',
    tabIndex: 0,
    'aria-label': label,
    onClick: onPress,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Enter' && event.key !== ' ') return
      event.preventDefault()
      onPress()
    },
  }
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
