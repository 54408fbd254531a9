/** Segment's `GET /v1/projects/:key/settings`. */
export function segmentSettings(writeKey: string, publicUrl: string) {
  const { protocol, host, pathname } = new URL(publicUrl)
  const apiHost = `${host}${pathname.replace(/\/$/, '')}/v1`
  const allowed = { enabled: true, integrations: {} }
  return {
    integrations: {
      'Segment.io': {
        apiKey: writeKey,
        apiHost,
        protocol: protocol.replace(':', ''),
        addBundledMetadata: false,
        bundlingStatus: 'bundled',
        type: 'server',
      },
    },
    plan: { track: { __default: allowed }, identify: { __default: allowed }, group: { __default: allowed } },
    edgeFunction: {},
    analyticsNextEnabled: true,
    middlewareSettings: {},
    enabledMiddleware: {},
    // With this rate, the SDK sends no metrics about itself.
    metrics: { sampleRate: 0, host: apiHost },
    legacyVideoPluginsEnabled: false,
    remotePlugins: [],
  }
}

/** RudderStack's `GET /sourceConfig/`. */
export function rudderSettings(sourceId: string) {
  const nothing = { enabled: false }
  return {
    source: {
      id: sourceId,
      name: 'Customer Data Service',
      enabled: true,
      config: { statsCollection: { errors: nothing, metrics: nothing } },
      destinations: [],
    },
  }
}
