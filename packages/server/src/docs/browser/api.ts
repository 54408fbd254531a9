/** The viewer's script defines it. */
interface Viewer {
  createApiReference(element: string, configuration: object): void
}

const { Scalar } = globalThis as unknown as { Scalar: Viewer }
const root = document.documentElement
const isDark = () => root.getAttribute('data-mantine-color-scheme') === 'dark'

document.querySelector('#api')?.replaceChildren()
Scalar.createApiReference('#api', {
  url: '/openapi.json',
  // Requests of a reader go to the service that serves the page.
  servers: [{ url: location.origin }],
  forceDarkModeState: isDark() ? 'dark' : 'light',
  hideDarkModeToggle: true,
  withDefaultFonts: false,
  theme: 'none',
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  operationTitleSource: 'summary',
  // The page has a search of its own under "/".
  searchHotKey: 'k',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  authentication: { preferredSecurityScheme: 'apiKey' },
})

// The viewer applies a change of its configuration to everything but the colors.
new MutationObserver(() => {
  document.body.classList.toggle('dark-mode', isDark())
  document.body.classList.toggle('light-mode', !isDark())
}).observe(root, { attributeFilter: ['data-mantine-color-scheme'] })
