import type { Method, OperationRoute, RouteOptions, Selection } from '../row.ts'

/** The routes of one noun. */
export interface NounRoutes {
  /**
   * Selections that routes make of a record, by its type. A field of such a type needs no selection of its own; an
   * alias that ends in `Id` or `Ids` yields the id of a field that selects `id` only; `@spread` replaces a field by its
   * parts; without a field that is `@required` the answer is 404.
   */
  readonly select?: Readonly<Record<string, string | Selection>>
  readonly names?: RouteOptions['names']
  /** Routes by method and path: the root field that runs, or the field with options that cannot be derived. */
  readonly routes: Readonly<Record<`${Method} /${string}`, string | RouteOptions>>
}

/** Selections of types that the routes of several nouns show. */
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
