# The Homebrew formula, filled in by scripts/manifest.js. Not tested, because Homebrew was not available.
class Esign < Formula
  desc "Send documents for signature from the command line"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@DOWNLOADS@/esign-darwin-arm64.tar.gz"
      sha256 "@SHA256 esign-darwin-arm64.tar.gz@"
    end
    on_intel do
      url "@DOWNLOADS@/esign-darwin-x64.tar.gz"
      sha256 "@SHA256 esign-darwin-x64.tar.gz@"
    end
  end

  on_linux do
    on_arm do
      url "@DOWNLOADS@/esign-linux-arm64.tar.gz"
      sha256 "@SHA256 esign-linux-arm64.tar.gz@"
    end
    on_intel do
      url "@DOWNLOADS@/esign-linux-x64.tar.gz"
      sha256 "@SHA256 esign-linux-x64.tar.gz@"
    end
  end

  def install
    bin.install "esign"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"esign", "autocomplete", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_match "esign-cli/#{version}", shell_output("#{bin}/esign --version")
  end
end
