import { RemoteGraphQLDataSource } from '../../../engine/package/sources/remote.ts'
import type { EngineConfig } from '../../../engine/package/standalone/create-engine.ts'
import type { SourceSettings } from './supergraph-source.ts'

/** Headers of a client's request, as the context of its operation has them. */
interface Context {
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>
}

/**
 * Returns how subgraphs are reached: at `<NAME>_URL` where that is set, with the headers of the client that
 * PROPAGATE_HEADERS names.
 * @throws Error for an address that cannot be asked over HTTP
 */
export function createSubgraphHeaders(settings: SourceSettings): Required<Pick<EngineConfig, 'buildService'>> {
  const names = (settings.PROPAGATE_HEADERS ?? '')
    .split(',')
    .map(name => name.trim().toLowerCase())
    .filter(Boolean)
  return {
    buildService({ name, url: written }) {
      const variable = `${name.toUpperCase().replaceAll(/\W/g, '_')}_URL`
      const url = settings[variable] ?? written ?? ''
      if (!/^https?:/.test(url) || !URL.canParse(url)) throw new Error(`the subgraph "${name}" has no address that can be asked over HTTP: set ${variable}`)
      const source = new RemoteGraphQLDataSource({ url })
      if (names.length > 0)
        source.willSendRequest = ({ request, context }) => {
          for (const header of names) {
            const value = (context as Context).headers?.[header]
            if (value !== undefined) request.http!.headers.set(header, [value].flat().join(', '))
          }
        }
      return source
    },
  }
}
