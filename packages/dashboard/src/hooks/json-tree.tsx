import { Text } from '@mantine/core'
import { useState } from 'react'
import classes from './mapping.module.css'
import { type Draft, pathWithin } from './mapping-draft.ts'
import { SampleValue } from './sample-value.tsx'
import { text } from './text.ts'

const words = text.mapping
/** Objects and lists down to this depth are open at first. */
const OPEN_DEPTH = 3
/** Longer lists are cut, because their remaining items have the same form. */
const SHOWN_MAX = 50
const VALUE_LENGTH_MAX = 120

interface TreeProps {
  value: unknown
  draft: Draft
  /** null: the values cannot be clicked. */
  setDraft: ((draft: Draft) => void) | null
  /** The field that a click on a value fills. */
  selected: string | null
}

/** A JSON value. Its parts are buttons that put their path into a field. */
export function JsonTree(props: TreeProps) {
  return <Children {...props} path="" depth={0} />
}

interface NodeProps extends TreeProps {
  path: string
  depth: number
}

function Children({ value, path, depth, ...tree }: NodeProps) {
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((each, index) => [index, each])
    : Object.entries(value as object)
  return (
    <ul className={classes.list}>
      {entries.slice(0, SHOWN_MAX).map(([step, each]) => (
        <li key={step}>
          <Line {...tree} name={step} value={each} path={pathWithin(path, step)} depth={depth} />
        </li>
      ))}
      {entries.length > SHOWN_MAX ? (
        <li>
          <Text size="xs" c="dimmed">
            {words.more(entries.length - SHOWN_MAX)}
          </Text>
        </li>
      ) : null}
    </ul>
  )
}

function Line({ name, value, path, depth, ...picking }: NodeProps & { name: string | number }) {
  const { setDraft } = picking
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH)
  const isNested = value !== null && typeof value === 'object'
  const size = isNested ? Object.keys(value).length : 0
  const shown = isNested ? sizeOf(value, size) : shownOf(value)
  return (
    <>
      <div className={classes.line}>
        {isNested && size > 0 ? (
          <button
            type="button"
            className={classes.toggle}
            aria-expanded={isOpen}
            aria-label={isOpen ? words.close(path) : words.open(path)}
            onClick={() => setOpen(!isOpen)}
          >
            <span aria-hidden>{isOpen ? '▾' : '▸'}</span>
          </button>
        ) : null}
        <bdi>{name}</bdi>
        {setDraft === null ? (
          <bdi>{shown}</bdi>
        ) : (
          <SampleValue
            shown={shown}
            path={path}
            draft={picking.draft}
            setDraft={setDraft}
            selected={picking.selected}
          />
        )}
      </div>
      {isNested && isOpen && size > 0 ? <Children value={value} path={path} depth={depth + 1} {...picking} /> : null}
    </>
  )
}

function sizeOf(value: object, size: number): string {
  return Array.isArray(value) ? words.items(size) : words.fields(size)
}

function shownOf(value: unknown): string {
  const json = JSON.stringify(value)
  return json.length > VALUE_LENGTH_MAX ? `${json.slice(0, VALUE_LENGTH_MAX)}…` : json
}
