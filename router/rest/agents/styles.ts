/** What routes show of how a person writes and speaks. */
export const styles = {
  WritingStyle: 'tone formality sentenceLength vocabulary dos donts signaturePhrases',
  SpeakingStyle: 'pace cadence fillers pronunciations',
}
