/** How often a growing text is written at most, in ms, and how much of what waits at once at least, in characters. */
const pauseMs = 30
const least = 24

/**
 * Writes a text as it grows: half of what waits at a time, so that whoever watches sees it grow, and all of it within 200 ms.
 * @param write stores the text so far; false when nobody wants more of it
 * @returns the whole text; null once nobody wants it
 */
export async function writeGrowing(
  pieces: AsyncIterable<string>,
  write: (text: string) => Promise<boolean>,
  pause: (ms: number) => Promise<void> = ms => new Promise(resolve => setTimeout(resolve, ms)),
): Promise<string | null> {
  let text = ''
  let written = 0
  let isOver = false
  let wanted = true
  let failure: { readonly error: unknown } | null = null
  let came = Promise.withResolvers<void>()
  const reading = (async () => {
    try {
      for await (const piece of pieces) {
        if (!wanted) break
        text += piece
        came.resolve()
      }
    } catch (error) {
      failure = { error }
    }
    isOver = true
    came.resolve()
  })()
  while (wanted && !(isOver && written === text.length)) {
    if (written === text.length) {
      await came.promise
      came = Promise.withResolvers()
      if (isOver) came.resolve()
      continue
    }
    written = endOf(text, written + Math.max(least, Math.ceil((text.length - written) / 2)))
    wanted = await write(text.slice(0, written))
    if (written < text.length || !isOver) await pause(pauseMs)
  }
  await reading
  if (failure) throw (failure as { readonly error: unknown }).error
  return wanted ? text : null
}

/** The nearest place that does not cut a character in two. */
const endOf = (text: string, at: number): number => {
  if (at >= text.length) return text.length
  const code = text.charCodeAt(at - 1)
  return code >= 0xd800 && code <= 0xdbff ? at + 1 : at
}
