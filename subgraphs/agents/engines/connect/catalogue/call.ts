import type { Json } from '../../../stores/workflow.ts'
import type { CallEnd } from '../../run/interpret.ts'
import type { Connect } from '../connect.ts'
import { callFailure } from '../outcome.ts'
import { askForApp, askForApps, type CatalogueRequest } from './ask.ts'
import { ofPlatform, type PhonePlatform } from './read.ts'
import { catalogueTools, isCatalogueTool } from './tools.ts'

/** A call of a tool of the catalogue. */
export interface CatalogueCall extends CatalogueRequest {
  readonly tool: string
  readonly arguments: Readonly<Record<string, Json>>
}

const refused = (message: string): CallEnd => ({ failure: { hadNoEffect: true, isFinal: true, code: 'TOOL_ERROR', message } })

/** What is wrong with the arguments of a tool; null for nothing. */
function mistakeIn(tool: string, given: Readonly<Record<string, Json>>): string | null {
  const known = catalogueTools.find(({ name }) => name === tool)!.inputSchema as { readonly properties: object; readonly required: readonly string[] }
  const strange = Object.keys(given).find(name => !Object.hasOwn(known.properties, name))
  if (strange !== undefined) return `${strange} is no argument of ${tool}: it takes ${Object.keys(known.properties).join(', ')}.`
  const { id, platform } = given
  if (known.required.includes('id') && (typeof id !== 'string' || id === '' || id.length > 200)) return `id names the app of ${tool}.`
  if (platform !== undefined && platform !== null && platform !== 'ANDROID' && platform !== 'IOS') return 'platform is ANDROID or IOS.'
  return null
}

async function answer(connect: Connect, { tool, arguments: given, ...request }: CatalogueCall): Promise<CallEnd> {
  const platform = (given.platform ?? null) as PhonePlatform | null
  if (tool === 'list_apps') {
    const apps = await askForApps(connect, request)
    return { answer: { apps: apps.flatMap(app => ofPlatform(app, platform) ?? []) } as unknown as Json }
  }
  const app = await askForApp(connect, request, given.id as string)
  if (!app) return refused(`There is no app ${given.id}.`)
  return { answer: (tool === 'get_app' ? app : { artifacts: ofPlatform(app, platform)?.artifacts ?? [] }) as unknown as Json }
}

/** Calls a tool of the catalogue. It only reads, and never rejects. */
export async function callCatalogueTool(connect: Connect, call: CatalogueCall): Promise<CallEnd> {
  if (!isCatalogueTool(call.tool)) return refused(`The catalogue has no tool ${call.tool}.`)
  const mistake = mistakeIn(call.tool, call.arguments)
  if (mistake) return refused(mistake)
  const deadline = performance.now() + call.timeoutMs
  try {
    return await answer(connect, call)
  } catch (error) {
    return { failure: callFailure(error, { isSent: true, isLate: performance.now() >= deadline, seconds: call.timeoutMs / 1_000 }) }
  }
}
