/** The code, message and details of the refusal that a call throws; throws when it does not. */
export function refusalOf(call: () => unknown): { code: unknown; message: string; extensions: Record<string, unknown> } {
  let result: unknown
  try {
    result = call()
  } catch (error) {
    const { message, extensions } = error as Error & { extensions?: Record<string, unknown> }
    if (!extensions) throw error
    return { code: extensions.code, message, extensions }
  }
  throw new Error(`was to be refused, and gave ${JSON.stringify(result)}`)
}

/** The code of the refusal that a call throws; `allowed` when it throws none. */
export function verdictOf(call: () => unknown): unknown {
  try {
    call()
    return 'allowed'
  } catch (error) {
    return (error as { extensions?: { code?: unknown } }).extensions?.code ?? error
  }
}
