import { Text } from '@mantine/core'
import { useState } from 'react'
import classes from './mapping.module.css'
import { pathWithin } from './mapping-draft.ts'
import { text } from './text.ts'

const words = text.mapping
/** Objects and lists down to this depth are open at first. */
const OPEN_DEPTH = 3
/** Longer lists are cut, because their remaining items have the same form. */
const SHOWN_MAX = 50
const VALUE_LENGTH_MAX = 120

interface TreeProps {
  value: unknown
  /** The field that a click on a value fills; null if no field is chosen. */
  target: string | null
  onPick: (path: string) => void
}

/** A JSON value. Its parts are buttons that fill in their path. */
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

function Line({ name, value, path, depth, target, onPick }: NodeProps & { name: string | number }) {
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
        {target === null ? (
          <bdi>{shown}</bdi>
        ) : (
          <button
            type="button"
            className={classes.value}
            aria-label={words.use(shown, path, target)}
            onClick={() => onPick(path)}
          >
            <bdi>{shown}</bdi>
          </button>
        )}
      </div>
      {isNested && isOpen && size > 0 ? (
        <Children value={value} path={path} depth={depth + 1} target={target} onPick={onPick} />
      ) : null}
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
