import {
  type BadgeProps,
  type ButtonProps,
  type CardProps,
  type CSSVariablesResolver,
  createTheme,
  type DrawerProps,
  type MantineColorsTuple,
  type ModalProps,
  type NotificationProps,
  type PaperProps,
  type TableProps,
  type TooltipProps,
} from '@mantine/core'
import { text } from './text.ts'

/** The accent color; every shade is readable where the components use it. */
const ink: MantineColorsTuple = [
  '#eef1ff',
  '#dde2fb',
  '#b9c3f2',
  '#93a2ea',
  '#7486e3',
  '#5f74de',
  '#4c62d6',
  '#3b4fc4',
  '#3244ab',
  '#28378d',
]

/** Cooler and deeper than the default, so that cards are distinct from the page without borders. */
const dark: MantineColorsTuple = [
  '#e3e5ea',
  '#b9bec9',
  '#9aa1af',
  '#6c7484',
  '#3a404d',
  '#2b303b',
  '#20242d',
  '#181b22',
  '#12151b',
  '#0d0f14',
]

/** The header of a dialog is not the banner of the page. */
const DIALOG = {
  closeButtonProps: { 'aria-label': text.close },
  attributes: { header: { role: 'presentation' } },
  styles: { title: { fontWeight: 600 } },
} satisfies Partial<ModalProps>

function byDefault<Props>(defaultProps: Partial<Props>) {
  return { defaultProps }
}

export const theme = createTheme({
  primaryColor: 'ink',
  primaryShade: { light: 7, dark: 7 },
  colors: { ink, dark },
  fontFamily: 'Inter, "Inter fallback", system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.5rem', lineHeight: '1.3' } } },
  // Plain objects, because `Modal.extend` and the like would load these components with the first page.
  components: {
    Badge: byDefault<BadgeProps>({ variant: 'light', radius: 'sm', tt: 'none', fw: 550 }),
    Button: byDefault<ButtonProps>({ size: 'sm' }),
    Card: byDefault<CardProps>({ withBorder: true, padding: 'md' }),
    Drawer: byDefault<DrawerProps>(DIALOG),
    Modal: byDefault<ModalProps>({ ...DIALOG, centered: true }),
    Notification: byDefault<NotificationProps>({ closeButtonProps: { 'aria-label': text.close } }),
    Paper: byDefault<PaperProps>({ withBorder: true }),
    Table: byDefault<TableProps>({ verticalSpacing: 8, horizontalSpacing: 'md' }),
    Tooltip: byDefault<TooltipProps>({
      withArrow: true,
      openDelay: 300,
      events: { hover: true, focus: true, touch: false },
    }),
  },
})

const NAMED = ['red', 'pink', 'grape', 'violet', 'indigo', 'blue', 'cyan', 'teal', 'green', 'lime', 'yellow', 'orange']

/** Contrast of at least 4.5 to 1 for all text on every surface; the library's colors often stay below that. */
export const cssVariablesResolver: CSSVariablesResolver = () => {
  const each = (make: (color: string) => [string, string][]) => Object.fromEntries(NAMED.flatMap(make))
  const ninth = (color: string, share: number) => `color-mix(in srgb, var(--mantine-color-${color}-9) ${share}%, black)`
  const filled = each((color) => [
    [`--mantine-color-${color}-filled`, ninth(color, 85)],
    [`--mantine-color-${color}-filled-hover`, ninth(color, 75)],
  ])
  return {
    variables: {},
    light: {
      ...filled,
      ...each((color) => [
        [`--mantine-color-${color}-light-color`, ninth(color, 70)],
        [`--mantine-color-${color}-text`, ninth(color, 85)],
      ]),
      '--mantine-color-dimmed': '#5b6270',
      '--mantine-color-placeholder': '#6b7280',
      '--mantine-color-error': '#c92a2a',
      '--mantine-color-body': '#ffffff',
      '--mantine-color-anchor': 'var(--mantine-color-ink-7)',
      '--cds-page': '#f6f7f9',
      '--cds-line': '#e3e6ec',
    },
    dark: {
      ...filled,
      '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
      '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
      '--mantine-color-error': 'var(--mantine-color-red-4)',
      '--mantine-color-anchor': 'var(--mantine-color-ink-3)',
      '--cds-page': 'var(--mantine-color-dark-8)',
      '--cds-line': 'var(--mantine-color-dark-5)',
    },
  }
}
