import { type ReactNode, useState } from 'react'
import { useMutation } from 'urql'
import { problemOf } from '../../shell/data/problems.ts'
import { LaunchRefusal } from '../../shell/frame/launch.tsx'
import { say, sayIfKnown } from '../../shell/words.ts'
import { LaunchAppDocument } from './apps.generated.ts'

/** Opens an app of the catalogue in a tab of its own, once its address is there; what is refused says what helps. */
export function useAppLaunch(): { launch(app: string): Promise<void>; readonly opening: string | null; readonly refusal: ReactNode } {
  const [, launchApp] = useMutation(LaunchAppDocument)
  const [opening, setOpening] = useState<string | null>(null)
  const [told, setTold] = useState<{ readonly sentence: string; readonly url: string | null } | null>(null)
  async function launch(app: string) {
    setOpening(app)
    const { data, error } = await launchApp({ input: { app, source: 'CATALOGUE' } })
    setOpening(null)
    const launched = data?.launchApp
    const url = launched?.steps.find(({ kind }) => kind === 'WEB')?.url
    if (url) {
      if (!window.open(url, '_blank')) setTold({ sentence: say('launch.blocked'), url })
      return
    }
    const { failure } = launched ?? {}
    setTold({ sentence: failure ? sayIfKnown(`launch.${failure.code}`, failure.message) : (problemOf(error)?.sentence ?? say('launch.refused')), url: null })
  }
  return { launch, opening, refusal: told && <LaunchRefusal told={told} onClose={() => setTold(null)} /> }
}
