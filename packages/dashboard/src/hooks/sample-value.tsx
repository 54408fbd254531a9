import { Menu } from '@mantine/core'
import { useState } from 'react'
import classes from './mapping.module.css'
import { type Draft, keyOfPath, nameOf, newRow, type Part, type Row } from './mapping-draft.ts'
import { text } from './text.ts'

const words = text.mapping
const PARTS: readonly Part[] = ['contact', 'event', 'company']

interface SampleValueProps {
  /** As it is shown. */
  shown: string
  path: string
  draft: Draft
  setDraft: (draft: Draft) => void
  /** The field that a click fills; null: the click asks for it. */
  selected: string | null
}

/** A value of the sample: a click puts its path into the chosen field, or asks which field it is for. */
export function SampleValue({ shown, path, draft, setDraft, selected }: SampleValueProps) {
  const [isAsking, setAsking] = useState(false)
  const target = selected === null ? null : targetOf(draft, selected)
  const fields = draft.rows.filter(({ name }) => name !== null)
  const choose = (row: Row) => setDraft(withPath(draft, row.id, path))
  const add = (part: Part) => {
    const row = newRow(part)
    setDraft(withPath({ ...draft, rows: [...draft.rows, row] }, row.id, path))
  }
  const button = (
    <button
      type="button"
      className={classes.value}
      aria-label={target === null ? words.choosePlace(shown, path) : words.use(shown, path, target)}
      onClick={() => (target === null ? setAsking(true) : selected && setDraft(withPath(draft, selected, path)))}
    >
      <bdi>{shown}</bdi>
    </button>
  )
  // A sample has hundreds of values: only the one that was clicked has a menu.
  if (!isAsking) return button
  return (
    <Menu opened onClose={() => setAsking(false)} position="bottom-start" withinPortal>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        {PARTS.map((part) => (
          <div key={part}>
            <Menu.Label>{words.parts[part]}</Menu.Label>
            {fields
              .filter((row) => row.part === part)
              .map((row) => (
                <Menu.Item key={row.id} onClick={() => choose(row)}>
                  {nameOf(row)}
                </Menu.Item>
              ))}
            <Menu.Item onClick={() => add(part)}>{words.newField[part](keyOfPath(path))}</Menu.Item>
          </div>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** The name of the field that is chosen. */
function targetOf({ rows, conditions }: Draft, selected: string): string | null {
  const row = rows.find(({ id }) => id === selected)
  if (row) return nameOf(row)
  const condition = conditions.findIndex(({ id }) => id === selected)
  return condition < 0 ? null : words.conditionPath(condition + 1)
}

/** The draft with a path in a field. A property without a name gets the name of the value. */
function withPath({ rows, conditions }: Draft, fieldId: string, path: string): Draft {
  return {
    rows: rows.map((row) =>
      row.id === fieldId
        ? { ...row, from: 'path', text: path, key: row.name === null && row.key === '' ? keyOfPath(path) : row.key }
        : row,
    ),
    conditions: conditions.map((each) => (each.id === fieldId ? { ...each, path } : each)),
  }
}
