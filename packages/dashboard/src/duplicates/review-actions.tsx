import { Button, Group, Kbd } from '@mantine/core'
import { text } from './text.ts'

interface ReviewActionsProps {
  hasPair: boolean
  isFirst: boolean
  isLast: boolean
  isBusy: boolean
  mayWrite: boolean
  onPrevious: () => void
  onNext: () => void
  onMerge: () => void
  onDismiss: () => void
  /** Given while a merge can be undone. */
  onUndo: (() => void) | undefined
}

/** What can be done with the pair, each with its key. */
export function ReviewActions({ hasPair, isFirst, isLast, isBusy, mayWrite, ...on }: ReviewActionsProps) {
  return (
    <Group gap="xs" role="group" aria-label={text.actions}>
      {mayWrite && hasPair ? (
        <>
          <Button px="sm" onClick={on.onMerge} disabled={isBusy} rightSection={<Key name="m" />}>
            {text.merge}
          </Button>
          <Button variant="default" px="sm" onClick={on.onDismiss} disabled={isBusy} rightSection={<Key name="d" />}>
            {text.dismiss}
          </Button>
        </>
      ) : null}
      {mayWrite && on.onUndo ? (
        <Button variant="default" px="sm" onClick={on.onUndo} disabled={isBusy} rightSection={<Key name="u" />}>
          {text.undo}
        </Button>
      ) : null}
      <Button
        variant="default"
        onClick={on.onPrevious}
        disabled={isFirst}
        rightSection={<Key name="k" />}
        ml={{ sm: 'auto' }}
      >
        {text.previous}
      </Button>
      <Button variant="default" px="sm" onClick={on.onNext} disabled={isLast} rightSection={<Key name="j" />}>
        {text.next}
      </Button>
    </Group>
  )
}

/** The key of a button, which the button's name does not repeat. */
function Key({ name }: { name: string }) {
  return (
    <Kbd size="xs" aria-hidden visibleFrom="sm">
      {name}
    </Kbd>
  )
}
