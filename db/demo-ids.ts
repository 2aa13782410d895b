import { readConfig } from '../config.ts'
import { StartError } from '../start-error.ts'
import { readDemoFile } from './demo-file.ts'

// `npm run --silent demo:ids`: prints the file that the last start wrote. Needs no database.
try {
  const { dataDir } = readConfig()
  const facts = readDemoFile(dataDir)
  if (!facts)
    throw new StartError(`${dataDir} holds no demo.json: run npm start once, with demo data, or set DATA_DIR to the folder of the platform that has them`)
  console.log(JSON.stringify(facts, null, 2))
} catch (error) {
  if (!(error instanceof StartError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
