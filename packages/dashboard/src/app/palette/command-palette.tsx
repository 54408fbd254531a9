import { Group, Kbd, Loader, Modal, Text, TextInput, VisuallyHidden } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { messageOf } from '../../ui/states.tsx'
import { text } from '../text.ts'
import classes from './palette.module.css'
import { matching, type PaletteGroup, type PaletteItem } from './palette-item.ts'
import { useCommands } from './use-commands.ts'
import { useFoundRecords } from './use-found-records.ts'

const LOCAL_MAX = 6

interface CommandPaletteProps {
  isOpen: boolean
  onClose: () => void
}

/** Finds records, pages and actions, and opens or runs what is chosen. */
export function CommandPalette({ isOpen, onClose }: CommandPaletteProps) {
  const [opensPage, setOpensPage] = useState(false)
  const choose = (item: PaletteItem) => {
    setOpensPage(item.opensPage)
    onClose()
    item.run()
  }
  return (
    <Modal.Root
      opened={isOpen}
      onClose={() => {
        setOpensPage(false)
        onClose()
      }}
      size="lg"
      yOffset="min(12vh, 96px)"
      // A page that opens gets the focus itself.
      returnFocus={!opensPage}
    >
      <Modal.Overlay />
      <Modal.Content aria-label={text.palette.title}>
        <Modal.Body p={0}>{isOpen ? <Palette onChoose={choose} /> : null}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

function Palette({ onChoose }: { onChoose: (item: PaletteItem) => void }) {
  const [typed, setTyped] = useState('')
  const [active, setActive] = useState(0)
  const id = useId()
  const query = typed.trim()
  const { recent, pages, actions } = useCommands()
  const found = useFoundRecords(query)
  const title = text.palette.groups
  const groups: PaletteGroup[] = (
    query === ''
      ? [
          { title: title.recent, items: recent },
          { title: title.actions, items: actions.slice(0, LOCAL_MAX) },
          { title: title.pages, items: pages },
        ]
      : [
          { title: title.pages, items: matching(pages, query).slice(0, LOCAL_MAX) },
          { title: title.actions, items: matching(actions, query).slice(0, LOCAL_MAX) },
          // Last, because they arrive last, and what is above must not move.
          ...found.groups,
        ]
  ).filter(({ items }) => items.length > 0)
  const items = groups.flatMap((group) => group.items)
  const current = items[Math.min(active, items.length - 1)]
  const idOf = (item: PaletteItem) => `${id}-${item.id.replaceAll(/[^\w-]/g, '_')}`

  const list = useRef<HTMLDivElement>(null)
  const currentId = current && idOf(current)
  useEffect(() => {
    if (currentId) list.current?.querySelector(`[id="${currentId}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [currentId])

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && items.length > 0) {
      event.preventDefault()
      setActive((Math.min(active, items.length - 1) + step + items.length) % items.length)
    }
    if (event.key === 'Enter' && current && !event.nativeEvent.isComposing) {
      event.preventDefault()
      onChoose(current)
    }
  }
  return (
    <>
      <TextInput
        className={classes.field}
        variant="unstyled"
        size="md"
        data-autofocus
        role="combobox"
        aria-label={text.palette.placeholder}
        aria-expanded={items.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={currentId}
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        placeholder={text.palette.placeholder}
        maxLength={200}
        leftSection={<IconSearch size={18} aria-hidden />}
        rightSection={found.isSearching ? <Loader size={16} aria-hidden /> : null}
        value={typed}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} className={classes.list} id={`${id}-list`} role="listbox" aria-label={text.palette.results}>
        {groups.map((group, index) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options, not a fieldset
          <div key={group.title} role="group" aria-labelledby={`${id}-group-${index}`}>
            <div className={classes.title} id={`${id}-group-${index}`}>
              {group.title}
            </div>
            {group.items.map((item) => (
              <Option key={item.id} id={idOf(item)} item={item} isActive={item === current} onChoose={onChoose} />
            ))}
          </div>
        ))}
      </div>
      {found.error ? (
        <Text size="sm" c="red" px="md" pb="sm" role="alert">
          {text.palette.failed(messageOf(found.error))}
        </Text>
      ) : null}
      {items.length === 0 && !found.isSearching && !found.error ? (
        <Text size="sm" c="dimmed" px="md" pb="md">
          {text.palette.nothing(query)}
        </Text>
      ) : null}
      <VisuallyHidden role="status">{found.isSearching ? '' : text.palette.found(items.length)}</VisuallyHidden>
      <Group className={classes.keys} gap="md" visibleFrom="sm" aria-hidden>
        {KEYS.map(([key, what]) => (
          <Group key={key} gap={6}>
            <Kbd size="xs">{key}</Kbd>
            {what}
          </Group>
        ))}
      </Group>
    </>
  )
}

const KEYS = [
  ['↑↓', text.palette.keys.move],
  ['↵', text.palette.keys.choose],
  ['Esc', text.palette.keys.leave],
] as const

interface OptionProps {
  id: string
  item: PaletteItem
  isActive: boolean
  onChoose: (item: PaletteItem) => void
}

function Option({ id, item, isActive, onChoose }: OptionProps) {
  const { icon: Icon, label, hint } = item
  return (
    // The field keeps the focus and handles the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: see above
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <div id={id} role="option" aria-selected={isActive} className={classes.option} onClick={() => onChoose(item)}>
      <Icon size={16} stroke={1.7} aria-hidden />
      <bdi className={classes.label}>{label}</bdi>
      {hint && hint !== label ? <bdi className={classes.hint}>{hint}</bdi> : null}
    </div>
  )
}
