import type { Method, OperationRoute, RouteOptions, Selection } from '../row.ts'

/** The routes of one noun. */
export interface NounRoutes {
  /**
   * What routes show of a record, by its type. A field of such a type needs no selection of its own; an alias that ends in `Id` or `Ids`
   * is the id alone of what it selects `id` of; `@spread` puts the parts of a field in the place of it; without a field that is `@required`
   * there is no answer.
   */
  readonly select?: Readonly<Record<string, string | Selection>>
  readonly names?: RouteOptions['names']
  /** By method and path: the root field that runs, or with it what its types do not say. */
  readonly routes: Readonly<Record<`${Method} /${string}`, string | RouteOptions>>
}

/** Selections of types that several nouns show. */
const shared: Readonly<Record<string, string>> = {
  Money: 'amountMinor currency',
  WidgetPayload: 'statistics { key label value } items { id title at url } nextAction { label url } chart { title points { label value } }',
}

/** Lists the routes of a noun. */
export function nounRoutes({ select = {}, names, routes }: NounRoutes): readonly OperationRoute[] {
  const selections = Object.fromEntries(
    Object.entries({ ...shared, ...select }).map(([type, selection]) => [type, typeof selection === 'string' ? { fields: selection } : selection]),
  )
  return Object.entries(routes).map(([at, options]) => {
    const [method, path] = at.split(' ', 2)
    return {
      ...(names && { names }),
      ...(typeof options === 'string' ? { run: options } : options),
      kind: 'operation',
      method: methodOf(method),
      path: path!,
      selections,
    }
  })
}

const methods: Readonly<Record<string, Method>> = { GET: 'GET', POST: 'POST', PUT: 'PUT', PATCH: 'PATCH', DELETE: 'DELETE' }

function methodOf(text: string | undefined): Method {
  const method = methods[text ?? '']
  if (!method) throw new Error(`${text} is no method of a route`)
  return method
}
